/** Code modules in the containers of a pod: where they are mounted, and how processes load them. Pure. */
import { posix } from 'node:path'
import { ownValue } from '@reeve/http'
import type { Container, EnvVar, Volume } from '@reeve/kube'
import { isQuantity } from '../../api/core/quantity.ts'
import { isMode } from '../../api/dynakube/one-agent-facts.ts'
import { featureFlags } from '../../api/feature-flags.ts'
import { CONTAINER_CONFIG_PATH, PRELOAD_FILE, preloadedLibrary } from '../../injection-contract/paths.ts'
import type { AgentMode } from './agent-mode.ts'
import { POD_SETTINGS, sizeAnnotation } from './annotations.ts'
import { CONFIG_VOLUME } from './config-mounts.ts'
import type { InjectablePod, InjectionInput } from './injection-input.ts'
import { appendEnv, fieldVariable, mountsAt, withDefaultEnv, withMounts } from './pod-edits.ts'
import { isQualifiedName } from './qualified-name.ts'

/** The volume with the code modules. */
export const BIN_VOLUME = 'oneagent-bin'

/** Always passed on: the default of the bootstrapper differs. */
const DEFAULT_INSTALL_PATH = '/opt/dynatrace/oneagent-paas'
/** The driver that mounts them. */
export const CSI_DRIVER = 'csi.oneagent.dynatrace.com'
const LOADER_FILE = '/etc/ld.so.preload'

/** Where containers see the code modules. */
export const installPathOf = ({ metadata }: InjectablePod): string =>
  metadata.annotations?.[POD_SETTINGS.installPath]?.replace(/(?<=[^/])\/$/, '') || DEFAULT_INSTALL_PATH

/**
 * Whether code modules can be there: blanks, commas and colons separate entries of `LD_PRELOAD`, so that processes would
 * load something else; at `/` they would hide the files of the container.
 */
export function isInstallPath(path: string): boolean {
  return /^\/[^\s:,\0]+$/.test(path) && path === posix.normalize(path)
}

/** The volume for a mode. */
export function binVolume({ pod, dynakube }: InjectionInput, mode: AgentMode): Volume {
  if (mode !== 'csi') return { name: BIN_VOLUME, emptyDir: emptyDirOf(pod, BIN_VOLUME) }
  const retryTimeout = formatDuration(featureFlags(dynakube).maxCsiMountTimeoutMs)
  const volumeAttributes = { mode: 'app', dynakube: dynakube.metadata.name ?? '', retryTimeout }
  return { name: BIN_VOLUME, csi: { driver: CSI_DRIVER, readOnly: true, volumeAttributes } }
}

/** An emptyDir with the size limit of an annotation; a limit that the API server would reject is left out. */
export function emptyDirOf({ metadata }: InjectablePod, volume: string): { readonly sizeLimit?: string } {
  const sizeLimit = metadata.annotations?.[sizeAnnotation(volume)] ?? ''
  return isSize(sizeLimit) ? { sizeLimit } : {}
}

const isSize = (text: string): boolean => /^\+?\.?\d\S*$/.test(text) && isQuantity(text)

/** Minutes and seconds as Go prints them: the CSI driver of any release reads that. */
function formatDuration(ms: number): string {
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor(ms / 60_000) % 60
  const seconds = (ms % 60_000) / 1_000
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`
  if (minutes > 0) return `${minutes}m${seconds}s`
  return ms > 0 && ms < 1_000 ? `${ms}ms` : `${seconds}s`
}

/** Whether a container has code modules already. */
export const hasCodeModules = ({ volumeMounts = [] }: Container): boolean =>
  volumeMounts.some(({ name }) => name === BIN_VOLUME)

/** The mount of the user that takes the place of the code modules; such a container gets none. */
export const mountInTheWay = (container: Container, pod: InjectablePod) => mountsAt(container, installPathOf(pod))

/** A container with code modules. One that has them, or has a conflicting mount, is not changed. */
export function withCodeModules(container: Container, input: InjectionInput): Container {
  const { pod } = input
  if (hasCodeModules(container) || mountInTheWay(container, pod) !== undefined) return container
  const mountPath = installPathOf(pod)
  const mounted = withMounts(container, [
    { name: BIN_VOLUME, mountPath, readOnly: true },
    { name: CONFIG_VOLUME, mountPath: LOADER_FILE, subPath: PRELOAD_FILE },
  ])
  return withVariables(mounted, input, mountPath)
}

function withVariables(container: Container, input: InjectionInput, installPath: string): Container {
  const { networkZone } = input.dynakube.spec
  const origin = withDefaultEnv(container, [{ name: 'DT_DEPLOYMENT_METADATA', value: originOf(input) }])
  const preloaded = withPreload(origin, installPath)
  const stored = withDefaultEnv(preloaded, [{ name: 'DT_STORAGE', value: `${CONTAINER_CONFIG_PATH}/oneagent` }])
  const zoned = networkZone ? appendEnv(stored, [{ name: 'DT_NETWORK_ZONE', value: networkZone }]) : stored
  return withDefaultEnv(zoned, releaseVariables(input))
}

function originOf({ dynakube, settings }: InjectionInput): string {
  const type = isMode(dynakube, 'cloudNativeFullStack') ? 'cloud_native_fullstack' : 'application_monitoring'
  const id = dynakube.status?.kubeSystemUUID ?? ''
  return `orchestration_tech=Operator-${type};script_version=${settings.operatorVersion};orchestrator_id=${id}`
}

/** What is preloaded already stays, in its own notation. A value from elsewhere cannot be added to. */
function withPreload(container: Container, installPath: string): Container {
  const name = 'LD_PRELOAD'
  const library = preloadedLibrary(installPath)
  const { env = [] } = container
  const index = env.findLastIndex((variable) => variable.name === name)
  const existing = env[index]
  if (existing === undefined) return appendEnv(container, [{ name, value: library }])
  const { value = '', valueFrom } = existing
  if (valueFrom !== undefined || value.includes(installPath)) return container
  const separator = value.includes(' ') ? ' ' : ':'
  return { ...container, env: env.with(index, { name, value: `${value}${separator}${library}` }) }
}

/** Release variables by the part of the namespace annotation that names their field path. */
const RELEASE = {
  version: 'DT_RELEASE_VERSION',
  product: 'DT_RELEASE_PRODUCT',
  stage: 'DT_RELEASE_STAGE',
  'build-version': 'DT_RELEASE_BUILD_VERSION',
} as const

const DEFAULT_PATHS: Readonly<Record<string, string>> = {
  version: "metadata.labels['app.kubernetes.io/version']",
  product: "metadata.labels['app.kubernetes.io/part-of']",
}

const FIELD_PATHS = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
])

/** Whether the API server accepts a field path in a variable. It rejects pods with any other. */
function isFieldPath(path: string): boolean {
  const [, key] = /^metadata\.(?:labels|annotations)\['([^']*)'\]$/.exec(path) ?? []
  return key === undefined ? FIELD_PATHS.has(path) : isQualifiedName(key.toLowerCase())
}

function releaseVariables({ dynakube, namespace }: InjectionInput): readonly EnvVar[] {
  if (!featureFlags(dynakube).labelVersionDetection) return []
  return Object.entries(RELEASE).flatMap(([part, name]) => {
    const path = ownValue(namespace.annotations, `mapping.release.dynatrace.com/${part}`) || DEFAULT_PATHS[part]
    return path !== undefined && isFieldPath(path) ? [fieldVariable(name, path)] : []
  })
}
