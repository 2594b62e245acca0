/** The init container, which prepares files for all containers of a pod. Pure. */
import type { Container, SecurityContext, Volume, VolumeMount } from '@reeve/kube'
import { FIXED_NAMES } from '../../api/dynakube/names.ts'
import { isMode } from '../../api/dynakube/one-agent-facts.ts'
import { tenantUuid } from '../../api/dynakube/tenant-facts.ts'
import { featureFlags } from '../../api/feature-flags.ts'
import {
  DEFAULT_SECCOMP_PROFILE,
  NO_CAPABILITIES,
  NO_PRIVILEGES,
} from '../../controllers/rendering/security-context.ts'
import { INIT_MOUNTS } from '../../injection-contract/paths.ts'
import { type AgentMode, initContainerResources } from './agent-mode.ts'
import { POD_SETTINGS } from './annotations.ts'
import { attributeArguments, podAttributes } from './attributes.ts'
import { BIN_VOLUME, emptyDirOf, installPathOf } from './code-modules.ts'
import { CONFIG_VOLUME } from './config-mounts.ts'
import type { InjectablePod, InjectionInput } from './injection-input.ts'
import { INIT_CONTAINER, POD_VARIABLES } from './pod-edits.ts'

/** The volume that the init container reads. */
export const INPUT_VOLUME = 'dynatrace-input'
/** The Secrets in it. */
export const INPUT_SECRETS = [
  { name: FIXED_NAMES.bootstrapperConfig, optional: false },
  { name: FIXED_NAMES.bootstrapperCerts, optional: true },
] as const
const AGENT_SOURCE = '/opt/dynatrace/oneagent'
const DEFAULT_ID = 1001

/** What differs between pods with different features. */
export interface InitContainerParts {
  /** Absent without code modules. */
  readonly mode?: AgentMode
  /** Absent without enrichment. */
  readonly enrichment?: readonly string[]
  /** One for each container that gets files. */
  readonly containers: readonly string[]
}

/** The init container for a pod. */
export function initContainer(input: InjectionInput, parts: InitContainerParts): Container {
  const { pod, dynakube, settings } = input
  const { mode } = parts
  const image = mode === 'image' ? (dynakube.status?.codeModules?.imageID ?? '') : settings.image
  return {
    name: INIT_CONTAINER,
    image,
    imagePullPolicy: 'IfNotPresent',
    args: argumentsOf(input, parts),
    env: POD_VARIABLES,
    resources: initContainerResources(pod, dynakube, mode),
    securityContext: securityContextOf(input),
    volumeMounts: mountsOf(mode),
  }
}

function mountsOf(mode: AgentMode | undefined): readonly VolumeMount[] {
  const bin = { name: BIN_VOLUME, mountPath: INIT_MOUNTS.bin, ...(mode === 'csi' && { readOnly: true }) }
  return [
    ...(mode === undefined ? [] : [bin]),
    { name: CONFIG_VOLUME, mountPath: INIT_MOUNTS.config },
    { name: INPUT_VOLUME, mountPath: INIT_MOUNTS.input, readOnly: true },
  ]
}

/** The volumes that it reads and writes, besides that of the code modules. */
export function initVolumes(pod: InjectablePod): readonly Volume[] {
  const sources = INPUT_SECRETS.map((secret) => ({ secret }))
  return [
    { name: INPUT_VOLUME, projected: { sources } },
    { name: CONFIG_VOLUME, emptyDir: emptyDirOf(pod, CONFIG_VOLUME) },
  ]
}

function argumentsOf(input: InjectionInput, { mode, enrichment, containers }: InitContainerParts): readonly string[] {
  const { pod, dynakube } = input
  const { annotations = {} } = pod.metadata
  const policy = annotations[POD_SETTINGS.failurePolicy] || featureFlags(dynakube).injectionFailurePolicy
  return [
    // The image with the code modules has the program as its entrypoint.
    ...(mode === 'image' ? [] : ['bootstrap']),
    `--config-directory=${INIT_MOUNTS.config}`,
    `--input-directory=${INIT_MOUNTS.input}`,
    ...(policy === 'fail' ? [] : ['--suppress-error']),
    ...(mode === 'download' ? downloadArguments(input) : []),
    ...(mode === undefined ? [] : agentArguments(input)),
    ...(enrichment === undefined ? [] : [...enrichment, '--metadata-enrichment']),
    ...containers,
    ...attributeArguments(podAttributes(input)),
  ]
}

function downloadArguments({ pod, dynakube }: InjectionInput): readonly string[] {
  const flavor = pod.metadata.annotations?.[POD_SETTINGS.flavor]
  return [`--version=${dynakube.status?.codeModules?.version ?? ''}`, ...(flavor ? [`--flavor=${flavor}`] : [])]
}

function agentArguments({ pod, dynakube }: InjectionInput): readonly string[] {
  const technologies =
    pod.metadata.annotations?.[POD_SETTINGS.technologies] || dynakube.metadata.annotations?.[POD_SETTINGS.technologies]
  return [
    `--source=${AGENT_SOURCE}`,
    `--target=${INIT_MOUNTS.bin}`,
    `--install-path=${installPathOf(pod)}`,
    ...(isMode(dynakube, 'cloudNativeFullStack') ? ['--fullstack', `--tenant=${tenantUuid(dynakube)}`] : []),
    ...(technologies ? [`--technology=${technologies}`] : []),
  ]
}

/** On namespaces: the Pod Security Standard that the API server enforces. */
const ENFORCED_STANDARD = 'pod-security.kubernetes.io/enforce'

/** Runs as the pod, or else as its first container, does: otherwise it could not write what they read. */
function securityContextOf({ pod, namespace, dynakube, settings }: InjectionInput): SecurityContext {
  const first = pod.spec.containers[0]?.securityContext
  const ofPod = pod.spec.securityContext
  const runAsUser = first?.runAsUser ?? ofPod?.runAsUser ?? (settings.isOpenShift ? undefined : DEFAULT_ID)
  const runAsGroup = first?.runAsGroup ?? ofPod?.runAsGroup ?? DEFAULT_ID
  // In a restricted namespace the API server rejects a pod with a container that has no profile.
  const needsProfile = namespace.labels[ENFORCED_STANDARD] === 'restricted' && ofPod?.seccompProfile === undefined
  const hasProfile = featureFlags(dynakube).initContainerSeccompProfile || needsProfile
  return {
    ...NO_PRIVILEGES,
    ...NO_CAPABILITIES,
    ...(runAsUser !== undefined && { runAsUser }),
    runAsGroup,
    runAsNonRoot: runAsUser === undefined ? runAsGroup !== 0 : runAsUser !== 0,
    ...(hasProfile && DEFAULT_SECCOMP_PROFILE),
  }
}
