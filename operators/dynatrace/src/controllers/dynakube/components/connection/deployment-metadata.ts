/** The origin of the deployment, which agents and gateways report. */
import { ConfigMaps } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { modeNameOf, needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import { type DynaKubeComponent, type RenderInput, renderInputOf, runsNoPods } from '../../dynakube-component.ts'
import { tenant } from '../tenant/tenant.ts'

/** The ConfigMap from which containers read the origin of their deployment. */
export const deploymentMetadata: DynaKubeComponent = {
  name: 'deployment metadata',
  needs: [tenant],
  isEnabled: (dynakube) => needsOneAgentDaemonSet(dynakube) || hasActiveGate(dynakube),
  isReady: runsNoPods,
  mayOwn: (dynakube) => [{ resource: ConfigMaps, name: namesOf(dynakube).deploymentMetadata }],
  render(input) {
    const { namespace } = input.primary.metadata
    const name = namesOf(input.primary).deploymentMetadata
    return [desired(ConfigMaps, { metadata: { namespace, name }, data: dataOf(renderInputOf(input)) })]
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
