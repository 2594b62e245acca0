/** Tells agents and gateways who deployed them. */
import { ConfigMaps } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import type { Component } from '../../component.ts'
import type { RenderInput } from '../../render-input.ts'
import { modeNameOf } from '../one-agent/containers.ts'

/** The ConfigMap that containers read the origin of their deployment from. */
export const deploymentMetadata: Component = {
  name: 'deployment metadata',
  isEnabled: (dynakube) => needsOneAgentDaemonSet(dynakube) || hasActiveGate(dynakube),
  mayOwn: (dynakube) => [{ resource: ConfigMaps, name: namesOf(dynakube).deploymentMetadata }],
  render(input) {
    const data = dataOf(input)
    if (Object.keys(data).length === 0) return []
    const { namespace } = input.dynakube.metadata
    return [desired(ConfigMaps, { metadata: { namespace, name: namesOf(input.dynakube).deploymentMetadata }, data })]
  },
}

function dataOf({ dynakube, operator }: RenderInput): Readonly<Record<string, string>> {
  const origin = (type: string) =>
    [
      `orchestration_tech=Operator-${type}`,
      `script_version=${operator.version}`,
      `orchestrator_id=${dynakube.status.kubeSystemUUID ?? ''}`,
    ].join(';')
  return {
    ...(needsOneAgentDaemonSet(dynakube) && { oneagent: origin(modeNameOf(dynakube)), operator: operator.version }),
    ...(hasActiveGate(dynakube) && { activegate: origin('activegate') }),
  }
}
