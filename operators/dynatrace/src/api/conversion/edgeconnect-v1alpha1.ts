/** EdgeConnect between v1alpha1 and v1alpha2. */
import type { Spoke } from '@reeve/crd'
import { isAutoUpdated, serviceAccountName } from '../edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnect } from '../latest.ts'
import { type EdgeConnectV1Alpha1, omit, specOf } from './versions.ts'

const EMPTY_SPEC = { apiServer: '', oauth: { clientSecret: '', endpoint: '', resource: '' } }

/** To the stored version and back. */
export const v1alpha1Spoke: Spoke<EdgeConnectV1Alpha1, EdgeConnect> = {
  toHub(object) {
    const spec = specOf(object, EMPTY_SPEC)
    const { hostRestrictions } = spec
    const raised: EdgeConnect = {
      ...object,
      spec: {
        ...omit(spec, 'hostRestrictions'),
        ...(hostRestrictions && { hostRestrictions: hostRestrictions.split(',') }),
      },
      status: { version: {}, ...object.status },
    }
    return withExplicitDefaults(raised)
  },

  fromHub(object) {
    const { spec, ...rest } = withExplicitDefaults({ ...object, spec: specOf(object, EMPTY_SPEC) })
    const { hostRestrictions = [] } = spec
    return {
      ...rest,
      spec: {
        ...omit(spec, 'hostRestrictions'),
        ...(hostRestrictions.length > 0 && { hostRestrictions: hostRestrictions.join(',') }),
      },
    }
  },
}

/** v1alpha1 cannot leave these two open, so they are written out in both directions. */
function withExplicitDefaults(object: EdgeConnect): EdgeConnect {
  return {
    ...object,
    spec: { ...object.spec, autoUpdate: isAutoUpdated(object), serviceAccountName: serviceAccountName(object) },
  }
}
