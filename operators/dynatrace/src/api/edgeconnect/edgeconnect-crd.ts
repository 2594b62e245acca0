/** The CRD `edgeconnects.dynatrace.com` with all its versions. */
import { defineCrd } from '@reeve/crd'
import { v1alpha1 } from './v1alpha1.ts'
import { v1alpha2 } from './v1alpha2.ts'

/** The CRD, the newest version first. */
export const EdgeConnectCrd = defineCrd({
  group: 'dynatrace.com',
  kind: 'EdgeConnect',
  plural: 'edgeconnects',
  shortNames: ['ec', 'ecs'],
  categories: ['dynatrace'],
  scope: 'Namespaced',
  versions: { v1alpha2, v1alpha1 },
})
