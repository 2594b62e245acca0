/** The agents on the nodes: a DaemonSet, and where it learns how to reach the tenant. */
import { ConfigMaps, type DaemonSet, DaemonSets, type PodSpec } from '@reeve/kube'
import { type DesiredObject, desired, waiting } from '@reeve/runtime'
import { imagePullSecretNames, namesOf } from '../../../../api/dynakube/names.ts'
import { modeNameOf, modeSpec, needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import { CUSTOM_IMAGE_VERSION } from '../../../../api/dynakube/version-source.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { ANNOTATIONS, appArmorAnnotation } from '../../../rendering/annotations.ts'
import { appLabels } from '../../../rendering/labels.ts'
import { architecturesOf, linuxNodes } from '../../../rendering/placement.ts'
import { agentUpdateStrategy } from '../../../rendering/rolling-update.ts'
import { placementOf } from '../../../rendering/user-settings.ts'
import { created, objectConditions } from '../../conditions/object-conditions.ts'
import { type DynaKubeComponent, type RenderInput, renderInputOf } from '../../dynakube-component.ts'
import { isOnEveryNode } from '../../workload-readiness.ts'
import { activeGateAddress } from '../active-gate/service.ts'
import { clusterEntity } from '../cluster/cluster.ts'
import { deploymentMetadata } from '../connection/deployment-metadata.ts'
import { oneAgentConnection } from '../connection/one-agent-connection.ts'
import { proxySecret } from '../connection/proxy-secret.ts'
import { pullSecret } from '../connection/pull-secret.ts'
import { tenant } from '../tenant/tenant.ts'
import { parseAgentVersion } from '../versions/agent-version.ts'
import { oneAgentVersion } from '../versions/versions.ts'
import { AGENT_CONTAINER, agentContainer, metadataContainer } from './containers.ts'
import { agentVolumes } from './volumes.ts'

const SERVICE_ACCOUNT = 'dynatrace-dynakube-oneagent'
/** The agent's own shutdown, and some more. */
const GRACE_SECONDS = 80

/** The version in the status cannot be parsed. */
export class InvalidAgentVersionError extends Error {
  readonly code = 'INVALID_AGENT_VERSION'
  override readonly name = 'InvalidAgentVersionError'

  constructor(version: string) {
    super(`status.oneAgent.version "${version}" is not a version such as 1.283.132.20240205-143805`)
  }
}

/** OneAgent in the modes that run on nodes. */
export const oneAgent: DynaKubeComponent = {
  name: 'OneAgent',
  needs: [tenant, deploymentMetadata, proxySecret, oneAgentConnection, pullSecret, oneAgentVersion],
  after: [clusterEntity, activeGateAddress],
  isEnabled: needsOneAgentDaemonSet,
  isReady: ({ primary, cache }) => isOnEveryNode(namesOf(primary).oneAgent, primary, cache),
  mayOwn(dynakube) {
    const names = namesOf(dynakube)
    return [
      { resource: DaemonSets, name: names.oneAgent },
      { resource: ConfigMaps, name: names.oneAgentConnectionInfo },
    ]
  },
  render(engineInput) {
    const input = renderInputOf(engineInput)
    const { version, imageID } = input.dynakube.status.oneAgent ?? {}
    if (version && version !== CUSTOM_IMAGE_VERSION && parseAgentVersion(version) === undefined) {
      throw new InvalidAgentVersionError(version)
    }
    if (!imageID) return waiting('its image')
    return [renderConnectionInfo(input.dynakube), renderDaemonSet(input)]
  },
  ...objectConditions([
    created('OneAgentDaemonSet', 'DaemonSet', (dynakube) => namesOf(dynakube).oneAgent, {
      unrendered: (failure) => (failure instanceof InvalidAgentVersionError ? 'DaemonSetGenerationFailed' : undefined),
    }),
  ]),
}

/** Endpoints change often; pods read them when they start and are not restarted for them. */
function renderConnectionInfo(dynakube: RenderInput['dynakube']): DesiredObject {
  const { tenantUUID, endpoints } = dynakube.status.oneAgent?.connectionInfoStatus ?? {}
  return desired(ConfigMaps, {
    metadata: { namespace: dynakube.metadata.namespace, name: namesOf(dynakube).oneAgentConnectionInfo },
    data: {
      ...(tenantUUID && { 'tenant-uuid': tenantUUID }),
      ...(endpoints && { 'communication-endpoints': endpoints }),
    },
  })
}

/** The labels of the agents, by which their pods are found. */
export function oneAgentLabels(dynakube: DynaKube) {
  return appLabels({
    name: 'oneagent',
    owner: dynakube.metadata.name ?? '',
    component: modeNameOf(dynakube),
    version: dynakube.status?.oneAgent?.version ?? '',
  })
}

function renderDaemonSet(input: RenderInput): DesiredObject<DaemonSet> {
  const { dynakube } = input
  const labels = oneAgentLabels(dynakube)
  const mode = hostMode(dynakube)
  const all = { ...labels.all, ...mode?.labels }
  return desired(
    DaemonSets,
    {
      metadata: { namespace: dynakube.metadata.namespace, name: namesOf(dynakube).oneAgent, labels: all },
      spec: {
        selector: { matchLabels: labels.match },
        updateStrategy: agentUpdateStrategy(dynakube, mode?.rollingUpdate),
        template: {
          metadata: { labels: all, annotations: { ...podAnnotations(dynakube), ...mode?.annotations } },
          spec: podSpec(input),
        },
      },
    },
    { onImmutable: 'recreate' },
  )
}

function hostMode(dynakube: DynaKube) {
  return (
    modeSpec(dynakube, 'classicFullStack') ??
    modeSpec(dynakube, 'hostMonitoring') ??
    modeSpec(dynakube, 'cloudNativeFullStack')
  )
}

function podAnnotations({ status }: RenderInput['dynakube']): Readonly<Record<string, string>> {
  return {
    // The agent monitors the whole node.
    [appArmorAnnotation(AGENT_CONTAINER)]: 'unconfined',
    [ANNOTATIONS.inject]: 'false',
    [ANNOTATIONS.oneAgentTenantToken]: status.oneAgent?.connectionInfoStatus?.tenantTokenHash ?? '',
    // A node that is being emptied is watched to the end.
    'cluster-autoscaler.kubernetes.io/enable-ds-eviction': 'false',
  }
}

function podSpec(input: RenderInput): PodSpec {
  const { dynakube } = input
  return {
    serviceAccountName: SERVICE_ACCOUNT,
    hostNetwork: true,
    hostPID: true,
    dnsPolicy: 'ClusterFirstWithHostNet',
    terminationGracePeriodSeconds: GRACE_SECONDS,
    imagePullSecrets: imagePullSecretNames(dynakube).map((name) => ({ name })),
    affinity: linuxNodes(architecturesOf(dynakube.status.oneAgent?.source)),
    ...placementOf(hostMode(dynakube)),
    initContainers: [metadataContainer(input)],
    containers: [agentContainer(input)],
    volumes: agentVolumes(input).volumes,
  }
}
