/** DynaKube between v1beta4 and v1beta6, by way of v1beta5 from which it differs little. */
import type { Spoke } from '@reeve/crd'
import type { DynaKube } from '../latest.ts'
import { v1beta5Spoke } from './dynakube-v1beta5.ts'
import { lowerStatus, raiseStatus } from './enrichment-rules.ts'
import { type DynaKubeV1Beta4, omit, specOf } from './versions.ts'

/** To the stored version and back. */
export const v1beta4Spoke: Spoke<DynaKubeV1Beta4, DynaKube> = {
  toHub(object) {
    const spec = specOf(object, { apiUrl: '' })
    return v1beta5Spoke.toHub({
      ...omit(object, 'status'),
      spec: { ...omit(spec, 'activeGate'), ...(spec.activeGate && { activeGate: raiseActiveGate(spec.activeGate) }) },
      ...(object.status && { status: raiseStatus(object.status) }),
    })
  },

  fromHub(object) {
    const { spec, status, ...rest } = v1beta5Spoke.fromHub(object)
    return {
      ...rest,
      spec: {
        ...omit(spec, 'activeGate', 'kspm'),
        ...(spec.activeGate && { activeGate: lowerActiveGate(spec.activeGate) }),
        ...(spec.kspm && { kspm: {} }),
      },
      ...(status && { status: lowerStatus(status) }),
    }
  },
}

type Old = NonNullable<DynaKubeV1Beta4['spec']['activeGate']>
type New = NonNullable<DynaKube['spec']['activeGate']>

function raiseActiveGate({ persistentVolumeClaim: claim, ...rest }: Old): New {
  return { ...rest, ...(claim && { volumeClaimTemplate: claim }) }
}

function lowerActiveGate({ volumeClaimTemplate: claim, ...rest }: New): Old {
  return { ...rest, ...(claim && { persistentVolumeClaim: claim }) }
}
