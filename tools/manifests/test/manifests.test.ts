import { manifestsSuite } from './support/manifests-suite.ts'

manifestsSuite([
  { operator: 'webapp', variant: 'kubernetes', values: {} },
  { operator: 'collector', variant: 'kubernetes', values: {} },
  // The large CRDs are left to the thorough suite.
  { operator: 'dynatrace', variant: 'openshift-csi', values: { installCRD: false } },
])
