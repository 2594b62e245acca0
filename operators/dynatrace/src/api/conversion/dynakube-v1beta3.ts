/** DynaKube between v1beta3 and v1beta6: v1beta4 without telemetry ingest and without anything about storage. */
import type { Spoke } from '@reeve/crd'
import { ONE_AGENT_MODES } from '../dynakube/one-agent-facts.ts'
import type { DynaKube } from '../latest.ts'
import { v1beta4Spoke } from './dynakube-v1beta4.ts'
import { type DynaKubeV1Beta3, type DynaKubeV1Beta4, omit } from './versions.ts'

/** To the stored version and back. */
export const v1beta3Spoke: Spoke<DynaKubeV1Beta3, DynaKube> = {
  // Everything that v1beta3 has, v1beta4 has too.
  toHub: (object) => v1beta4Spoke.toHub(object),

  fromHub(object) {
    const { spec, ...rest } = v1beta4Spoke.fromHub(object)
    const { activeGate, oneAgent } = spec
    return {
      ...rest,
      spec: {
        ...omit(spec, 'telemetryIngest', 'activeGate', 'oneAgent'),
        ...(activeGate && {
          activeGate: omit(activeGate, 'persistentVolumeClaim', 'terminationGracePeriodSeconds', 'useEphemeralVolume'),
        }),
        ...(oneAgent && { oneAgent: withoutStorage(oneAgent) }),
      },
    }
  },
}

type OneAgent = NonNullable<DynaKubeV1Beta4['spec']['oneAgent']>

function withoutStorage(oneAgent: OneAgent): NonNullable<DynaKubeV1Beta3['spec']['oneAgent']> {
  const copy: OneAgent = { ...oneAgent }
  for (const mode of ONE_AGENT_MODES) {
    const settings = copy[mode]
    if (settings && 'storageHostPath' in settings) Object.assign(copy, { [mode]: omit(settings, 'storageHostPath') })
  }
  return copy
}
