/** The containers of the agent's pods. */
import type { Container, Probe, ResourceRequirements, SecurityContext } from '@reeve/kube'
import {
  modeSpec,
  oneAgentPullPolicy,
  secCompProfile,
  supportsReadOnlyHost,
} from '../../../../api/dynakube/one-agent-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { fromField } from '../../../rendering/container-env.ts'
import { pullPolicyOf } from '../../../rendering/image.ts'
import { restricted } from '../../../rendering/security-context.ts'
import { resourcesFrom } from '../../../rendering/user-settings.ts'
import type { RenderInput } from '../../dynakube-component.ts'
import { isOlderThan } from '../versions/agent-version.ts'
import { agentArguments } from './arguments.ts'
import { agentEnv } from './container-env.ts'
import { agentVolumes, NODE_METADATA } from './volumes.ts'

/** The container of the agent. */
export const AGENT_CONTAINER = 'dynatrace-oneagent'

const AGENT_USER = 1000

/** What the agent may do on the node unless it is privileged. */
const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'DAC_READ_SEARCH',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_ADMIN',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETUID',
  'SYS_ADMIN',
  'SYS_CHROOT',
  'SYS_PTRACE',
  'SYS_RESOURCE',
] as const

/** Writes what is known about the node into a file, so that the agent needs no access to the API. */
export function metadataContainer({ dynakube, operator }: RenderInput): Container {
  const { volume, folder, file } = NODE_METADATA
  return {
    name: 'dynatrace-operator',
    image: operator.image,
    imagePullPolicy: pullPolicyOf(oneAgentPullPolicy(dynakube)),
    args: ['generate-metadata', '--file', `${folder}/${file}`, '--attributes', nodeAttributes(dynakube)],
    env: [fromField('DT_K8S_NODE_NAME', 'spec.nodeName')],
    volumeMounts: [{ name: volume, mountPath: folder }],
    securityContext: restricted(AGENT_USER),
  }
}

function nodeAttributes({ status }: DynaKube): string {
  const entity = status?.kubernetesClusterMEID
  return [
    `k8s.cluster.name=${status?.kubernetesClusterName ?? ''}`,
    `k8s.cluster.uid=${status?.kubeSystemUUID ?? ''}`,
    'k8s.node.name=$(DT_K8S_NODE_NAME)',
    ...(entity ? [`dt.entity.kubernetes_cluster=${entity}`] : []),
  ].join(',')
}

/** The agent itself. */
export function agentContainer(input: RenderInput): Container {
  const { dynakube } = input
  return {
    name: AGENT_CONTAINER,
    image: dynakube.status.oneAgent?.imageID ?? '',
    imagePullPolicy: pullPolicyOf(oneAgentPullPolicy(dynakube)),
    args: agentArguments(dynakube),
    env: agentEnv(dynakube),
    resources: resourcesOf(dynakube),
    ...probesOf(dynakube),
    securityContext: securityOf(dynakube),
    volumeMounts: agentVolumes(input).mounts,
  }
}

/** A node that is full still needs its agent: it always requests some CPU. */
function resourcesOf(dynakube: DynaKube): ResourceRequirements {
  const mode =
    modeSpec(dynakube, 'classicFullStack') ??
    modeSpec(dynakube, 'cloudNativeFullStack') ??
    modeSpec(dynakube, 'hostMonitoring')
  const given = resourcesFrom(mode?.oneAgentResources)
  return { ...given, requests: { cpu: '100m', ...given?.requests } }
}

function securityOf(dynakube: DynaKube): SecurityContext {
  const isNonRoot = supportsReadOnlyHost(dynakube)
  const isReadOnly = isNonRoot && !isOlderThan(dynakube.status?.oneAgent?.version, 1, 291)
  const identity: SecurityContext = {
    ...(isNonRoot && { runAsNonRoot: true, runAsUser: AGENT_USER, runAsGroup: AGENT_USER }),
    readOnlyRootFilesystem: isReadOnly,
  }
  if (featureFlags(dynakube).oneAgentPrivileged) return { privileged: true, ...identity }
  const localhostProfile = secCompProfile(dynakube)
  return {
    ...identity,
    capabilities: { drop: ['ALL'], add: CAPABILITIES },
    ...(localhostProfile && { seccompProfile: { type: 'Localhost', localhostProfile } }),
  }
}

/** The health check of the agent's image, as the status keeps it. Durations are in nanoseconds. */
interface HealthCheck {
  readonly Test?: readonly string[]
  readonly Interval?: number
  readonly Timeout?: number
  readonly StartPeriod?: number
  readonly Retries?: number
}

const NANOSECONDS = 1_000_000_000
/** The start period of the health check is too long for a readiness probe: nodes wait for their agents. */
const LONGEST_READINESS_DELAY = 90

function probesOf(dynakube: DynaKube): { readonly readinessProbe?: Probe; readonly livenessProbe?: Probe } {
  // The schema leaves the shape open, as it is that of another project.
  const check = dynakube.status?.oneAgent?.healthcheck as HealthCheck | undefined
  if (check?.Test === undefined) return {}
  const seconds = (nanoseconds: number | undefined) => Math.floor((nanoseconds ?? 0) / NANOSECONDS)
  const delay = seconds(check.StartPeriod)
  const probe = (initialDelaySeconds: number): Probe => ({
    exec: { command: check.Test ?? [] },
    initialDelaySeconds,
    periodSeconds: seconds(check.Interval),
    timeoutSeconds: seconds(check.Timeout),
    failureThreshold: check.Retries ?? 0,
    successThreshold: 1,
  })
  const readinessProbe = probe(Math.min(delay, LONGEST_READINESS_DELAY))
  if (featureFlags(dynakube).oneAgentSkipLivenessProbe) return { readinessProbe }
  return { readinessProbe, livenessProbe: probe(delay) }
}
