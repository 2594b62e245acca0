/** The log agents of nodes that have no OneAgent, which would otherwise do their work. */
import { type DaemonSet, DaemonSets, Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasStandaloneLogMonitoring } from '../../../../api/dynakube/feature-facts.ts'
import { imagePullSecretNames, namesOf } from '../../../../api/dynakube/names.ts'
import { hasProxy } from '../../../../api/dynakube/proxy.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { coreLabels } from '../../../rendering/labels.ts'
import { linuxNodes } from '../../../rendering/placement.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import type { Component } from '../../component.ts'
import { created } from '../../object-conditions.ts'
import type { RenderInput } from '../../render-input.ts'
import { isOnEveryNode } from '../../workload-readiness.ts'
import { activeGateAddress } from '../active-gate/service.ts'
import { clusterEntity } from '../cluster/cluster.ts'
import { oneAgentTenantSecret } from '../connection/tenant-secrets.ts'
import { deploymentConf, noProxyOf } from './deployment-conf.ts'
import { logAgentPod } from './pod.ts'

/** Log monitoring without OneAgent. */
export const logMonitoring: Component = {
  name: 'log monitoring',
  needs: [oneAgentTenantSecret],
  after: [clusterEntity, activeGateAddress],
  isEnabled: hasStandaloneLogMonitoring,
  conditions: (dynakube) => [
    created('LogMonitoringConfig', 'Secret', namesOf(dynakube).logMonitoringConfig),
    created('LogMonitoringDaemonSet', 'DaemonSet', namesOf(dynakube).logMonitoring),
  ],
  isReady: (dynakube, cache) => isOnEveryNode(namesOf(dynakube).logMonitoring, dynakube, cache),
  mayOwn(dynakube) {
    const names = namesOf(dynakube)
    return [
      { resource: DaemonSets, name: names.logMonitoring },
      { resource: Secrets, name: names.logMonitoringConfig },
    ]
  },
  render(input) {
    if (!hasStandaloneLogMonitoring(input.dynakube)) return []
    return [renderConfig(input), renderDaemonSet(input)]
  },
}

function labelsOf({ dynakube, operator }: RenderInput) {
  return coreLabels({
    owner: dynakube.metadata.name ?? '',
    component: 'logmonitoring',
    operatorVersion: operator.version,
  })
}

function renderConfig(input: RenderInput): DesiredObject {
  const { dynakube } = input
  return desired(Secrets, {
    metadata: {
      namespace: dynakube.metadata.namespace,
      name: namesOf(dynakube).logMonitoringConfig,
      labels: labelsOf(input).all,
    },
    data: encodeSecret({ 'deployment.conf': deploymentConf(input) }),
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
        updateStrategy: { rollingUpdate: { maxUnavailable: featureFlags(dynakube).oneAgentMaxUnavailable } },
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
