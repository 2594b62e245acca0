/** The log agents of nodes that have no OneAgent, which would otherwise do their work. */
import { type DaemonSet, DaemonSets, Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasStandaloneLogMonitoring } from '../../../../api/dynakube/feature-facts.ts'
import { imagePullSecretNames, namesOf } from '../../../../api/dynakube/names.ts'
import { hasProxy } from '../../../../api/dynakube/proxy.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { coreLabels } from '../../../rendering/labels.ts'
import { linuxNodes } from '../../../rendering/placement.ts'
import { agentUpdateStrategy } from '../../../rendering/rolling-update.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { created, objectConditions } from '../../conditions/object-conditions.ts'
import { type DynaKubeComponent, type RenderInput, renderInputOf } from '../../dynakube-component.ts'
import { isOnEveryNode } from '../../workload-readiness.ts'
import { activeGateAddress } from '../active-gate/service.ts'
import { clusterEntity } from '../cluster/cluster.ts'
import { oneAgentConnection, oneAgentConnectionOf } from '../connection/one-agent-connection.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'
import { deploymentConf, noProxyOf } from './deployment-conf.ts'
import { logAgentPod } from './pod.ts'

/** Log monitoring without OneAgent. */
export const logMonitoring: DynaKubeComponent = {
  name: 'log monitoring',
  needs: [tenant, oneAgentConnection],
  after: [clusterEntity, activeGateAddress],
  isEnabled: hasStandaloneLogMonitoring,
  isReady: ({ primary, cache }) => isOnEveryNode(namesOf(primary).logMonitoring, primary, cache),
  mayOwn(dynakube) {
    const names = namesOf(dynakube)
    return [
      { resource: DaemonSets, name: names.logMonitoring },
      { resource: Secrets, name: names.logMonitoringConfig },
    ]
  },
  render(engineInput) {
    const input = renderInputOf(engineInput)
    const token = oneAgentConnectionOf(engineInput).oneAgentTenantToken
    const file = deploymentConf(input.dynakube, token, tenantOf(engineInput).proxyUrl)
    return [renderConfig(input, file), renderDaemonSet(input)]
  },
  ...objectConditions([
    created('LogMonitoringConfig', 'Secret', (dynakube) => namesOf(dynakube).logMonitoringConfig),
    created('LogMonitoringDaemonSet', 'DaemonSet', (dynakube) => namesOf(dynakube).logMonitoring),
  ]),
}

function labelsOf({ dynakube, operator }: RenderInput) {
  return coreLabels({
    owner: dynakube.metadata.name ?? '',
    component: 'logmonitoring',
    operatorVersion: operator.version,
  })
}

function renderConfig(input: RenderInput, file: string): DesiredObject {
  const { dynakube } = input
  return desired(Secrets, {
    metadata: {
      namespace: dynakube.metadata.namespace,
      name: namesOf(dynakube).logMonitoringConfig,
      labels: labelsOf(input).all,
    },
    data: encodeSecret({ 'deployment.conf': file }),
  })
}

function renderDaemonSet(input: RenderInput): DesiredObject<DaemonSet> {
  const { dynakube } = input
  const labels = labelsOf(input)
  const template = dynakube.spec.templates?.logMonitoring
  return desired(
    DaemonSets,
    {
      metadata: {
        namespace: dynakube.metadata.namespace,
        name: namesOf(dynakube).logMonitoring,
        labels: labels.all,
      },
      spec: {
        selector: { matchLabels: labels.match },
        updateStrategy: agentUpdateStrategy(dynakube, template?.rollingUpdate),
        template: {
          metadata: {
            labels: { ...template?.labels, ...labels.all },
            annotations: { ...template?.annotations, ...restartOn(input) },
          },
          spec: {
            ...logAgentPod(input),
            imagePullSecrets: imagePullSecretNames(dynakube).map((name) => ({ name })),
            affinity: linuxNodes('all'),
          },
        },
      },
    },
    { onImmutable: 'recreate' },
  )
}

/** One by one and not as a hash of the file: the endpoints in it change too often to restart for. */
function restartOn({ dynakube }: RenderInput): Readonly<Record<string, string>> {
  const { status, spec } = dynakube
  const noProxy = noProxyOf(dynakube)
  return {
    [ANNOTATIONS.oneAgentTenantToken]: status.oneAgent?.connectionInfoStatus?.tenantTokenHash ?? '',
    ...(spec.networkZone && { [ANNOTATIONS.networkZone]: spec.networkZone }),
    ...(hasProxy(dynakube) && { [ANNOTATIONS.proxy]: status.proxyURLHash ?? '' }),
    ...(noProxy && { [ANNOTATIONS.noProxy]: noProxy }),
  }
}
