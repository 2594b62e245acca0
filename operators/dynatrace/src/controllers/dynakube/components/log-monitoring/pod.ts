/** The pod of a log agent. */
import type { Container, EnvVar, PodSpec, SecurityContext, Volume, VolumeMount } from '@reeve/kube'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import { fromField } from '../../../rendering/container-env.ts'
import { imageOf, pullPolicyOf } from '../../../rendering/image.ts'
import { unprivileged } from '../../../rendering/security-context.ts'
import { placementOf, resourcesFrom } from '../../../rendering/user-settings.ts'
import type { RenderInput } from '../../dynakube-component.ts'

const SERVICE_ACCOUNT = 'dynatrace-logmonitoring'
const USER = 65532
const MAIN = 'main'
const FALLBACK_IMAGE = {
  repository: 'registry.lab.dynatrace.org/oneagent/dynatrace-logmodule-amd64',
  tag: 'latest',
}

/** Everything but what all workloads have in common. */
export function logAgentPod(input: RenderInput): PodSpec {
  return {
    serviceAccountName: SERVICE_ACCOUNT,
    serviceAccount: SERVICE_ACCOUNT,
    ...placementOf(input.dynakube.spec.templates?.logMonitoring),
    initContainers: [initContainer(input)],
    containers: [mainContainer(input)],
    volumes: volumes(input),
  }
}

function common({ dynakube }: RenderInput): Pick<Container, 'image' | 'imagePullPolicy' | 'resources'> {
  const template = dynakube.spec.templates?.logMonitoring
  const resources = resourcesFrom(template?.resources)
  return {
    image: imageOf(template?.imageRef, FALLBACK_IMAGE),
    imagePullPolicy: pullPolicyOf(template?.imageRef?.pullPolicy),
    ...(resources && { resources }),
  }
}

/** Prepares the folder of the agent and writes where it runs. */
function initContainer(input: RenderInput): Container {
  return {
    name: 'init-volume',
    ...common(input),
    command: ['/opt/dynatrace/oneagent/agent/lib64/bootstrap'],
    args: initArguments(input),
    env: initEnv(input),
    securityContext: securityOf(input, 'CHOWN'),
    volumeMounts: [library(input)],
  }
}

/** The entity of the cluster helps only together with its name. */
function clusterOf({ dynakube }: RenderInput): { readonly entity: string; readonly name: string } | undefined {
  const { kubernetesClusterMEID: entity, kubernetesClusterName: name } = dynakube.status
  return entity && name ? { entity, name } : undefined
}

/** Each argument is one word for the container, with a blank in it. */
function initArguments(input: RenderInput): readonly string[] {
  return [
    '-p k8s.cluster.uid=$(K8S_CLUSTER_UID)',
    '-p k8s.node.name=$(K8S_NODE_NAME)',
    '-c k8s_fullpodname $(K8S_POD_NAME)',
    '-c k8s_poduid $(K8S_POD_UID)',
    '-c k8s_basepodname $(K8S_BASEPODNAME)',
    '-c k8s_namespace $(K8S_NAMESPACE_NAME)',
    '-c k8s_node_name $(K8S_NODE_NAME)',
    '-c k8s_cluster_id $(K8S_CLUSTER_UID)',
    `-c k8s_containername ${MAIN}`,
    '-l /tmp/dynatrace',
    ...(clusterOf(input)
      ? ['-p k8s.cluster.name=$(K8S_CLUSTER_NAME)', '-p dt.entity.kubernetes_cluster=$(DT_ENTITY_KUBERNETES_CLUSTER)']
      : []),
    ...(input.dynakube.spec.templates?.logMonitoring?.args ?? []),
  ]
}

function initEnv(input: RenderInput): readonly EnvVar[] {
  const { dynakube } = input
  const cluster = clusterOf(input)
  return [
    fromField('K8S_NODE_NAME', 'spec.nodeName'),
    fromField('K8S_POD_NAME', 'metadata.name'),
    fromField('K8S_POD_UID', 'metadata.uid'),
    fromField('K8S_NAMESPACE_NAME', 'metadata.namespace'),
    { name: 'K8S_CLUSTER_UID', value: dynakube.status.kubeSystemUUID ?? '' },
    { name: 'K8S_BASEPODNAME', value: namesOf(dynakube).logMonitoring },
    ...(cluster
      ? [
          { name: 'DT_ENTITY_KUBERNETES_CLUSTER', value: cluster.entity },
          { name: 'K8S_CLUSTER_NAME', value: cluster.name },
        ]
      : []),
  ]
}

function mainContainer(input: RenderInput): Container {
  const agent = '/var/lib/dynatrace/oneagent'
  return {
    name: MAIN,
    ...common(input),
    env: [
      fromField('KUBELET_API_NODENAME', 'spec.nodeName'),
      fromField('KUBELET_API_ADDRESS', 'status.hostIP'),
      { name: 'DT_STORAGE', value: agent },
      { name: 'APMNG_PA_CONFIG_PATH', value: `${agent}/agent/config/ruxitagentproc.conf` },
    ],
    securityContext: securityOf(input, 'DAC_READ_SEARCH'),
    volumeMounts: [
      { name: 'config', mountPath: `${agent}/agent/config/deployment.conf`, subPath: 'deployment.conf' },
      library(input),
      { name: 'dynatrace-logs', mountPath: '/tmp/dynatrace', subPath: folderOf(input) },
      { name: 'docker-container-logs', mountPath: '/var/lib/docker/containers', readOnly: true },
      { name: 'var-log', mountPath: '/var/log', readOnly: true },
    ],
  }
}

/** Two DynaKubes may share a node: each has its own folder. */
const folderOf = ({ dynakube }: RenderInput): string => `logmonitoring-${tenantUuid(dynakube)}`

const library = (input: RenderInput): VolumeMount => ({
  name: 'dynatrace-lib',
  mountPath: '/var/lib/dynatrace',
  subPath: folderOf(input),
})

function volumes({ dynakube }: RenderInput): readonly Volume[] {
  const containers = '/var/lib/docker/containers'
  return [
    { name: 'config', secret: { secretName: namesOf(dynakube).logMonitoringConfig } },
    { name: 'dynatrace-lib', hostPath: { path: '/var/opt/dynatrace', type: 'DirectoryOrCreate' } },
    { name: 'dynatrace-logs', emptyDir: {} },
    { name: 'docker-container-logs', hostPath: { path: containers, type: 'DirectoryOrCreate' } },
    { name: 'var-log', hostPath: { path: '/var/log', type: 'Directory' } },
  ]
}

function securityOf({ dynakube }: RenderInput, capability: string): SecurityContext {
  const isPrivileged = featureFlags(dynakube).oneAgentPrivileged
  const localhostProfile = dynakube.spec.templates?.logMonitoring?.secCompProfile
  return unprivileged(USER, {
    privileged: isPrivileged,
    allowPrivilegeEscalation: isPrivileged,
    capabilities: { drop: ['ALL'], add: [capability] },
    ...(localhostProfile && { seccompProfile: { type: 'Localhost', localhostProfile } }),
  })
}
