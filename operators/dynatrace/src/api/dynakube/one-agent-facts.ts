/** What follows from the OneAgent part of a DynaKube. */
import type { DynaKube, DynaKubeSpec } from '../latest.ts'

type OneAgentSpec = NonNullable<DynaKubeSpec['oneAgent']>
/** The ways to monitor. */
export type OneAgentMode = Exclude<keyof OneAgentSpec, 'hostGroup'>
type ModeSpec<M extends OneAgentMode> = NonNullable<OneAgentSpec[M]>
type HostMode = Exclude<OneAgentMode, 'applicationMonitoring'>

/** In order of precedence where two are given, which admission rejects. */
export const ONE_AGENT_MODES = [
  'classicFullStack',
  'cloudNativeFullStack',
  'applicationMonitoring',
  'hostMonitoring',
] as const satisfies readonly OneAgentMode[]

/** Modes that are on: present and not null, even if empty. */
export function oneAgentModes({ spec }: DynaKube): readonly OneAgentMode[] {
  return ONE_AGENT_MODES.filter((mode) => (spec.oneAgent?.[mode] ?? undefined) !== undefined)
}

/** Whether a mode is on. */
export function isMode(dynakube: DynaKube, ...modes: readonly OneAgentMode[]): boolean {
  return oneAgentModes(dynakube).some((mode) => modes.includes(mode))
}

/** The settings of a mode that is on. */
export function modeSpec<M extends OneAgentMode>({ spec }: DynaKube, mode: M): ModeSpec<M> | undefined {
  // The compiler cannot see that what is left of the indexed type is the mode's own.
  return (spec.oneAgent?.[mode] ?? undefined) as ModeSpec<M> | undefined
}

/** Whether an agent runs on each node. */
export const needsOneAgentDaemonSet = (dynakube: DynaKube): boolean =>
  isMode(dynakube, 'classicFullStack', 'cloudNativeFullStack', 'hostMonitoring')

/** Whether code modules are put into pods. */
export const needsAppInjection = (dynakube: DynaKube): boolean =>
  isMode(dynakube, 'cloudNativeFullStack', 'applicationMonitoring')

/** Whether the agent can do with a read-only file system on the host. */
export const supportsReadOnlyHost = (dynakube: DynaKube): boolean =>
  isMode(dynakube, 'cloudNativeFullStack', 'hostMonitoring')

/** The first of the given modes that is on, with its settings. */
function firstHost(dynakube: DynaKube, order: readonly HostMode[]): ModeSpec<'cloudNativeFullStack'> | undefined {
  const mode = order.find((candidate) => isMode(dynakube, candidate))
  // All host modes share these members; those of injection are optional and absent in the others.
  return mode && (modeSpec(dynakube, mode) as ModeSpec<'cloudNativeFullStack'> | undefined)
}

// Which mode wins if admission was bypassed and there are two differs per question, for historical reasons.
const FOR_IMAGE = ['classicFullStack', 'hostMonitoring', 'cloudNativeFullStack'] as const
const FOR_ARGUMENTS = ['cloudNativeFullStack', 'classicFullStack', 'hostMonitoring'] as const
const FOR_UPDATES = ['cloudNativeFullStack', 'hostMonitoring', 'classicFullStack'] as const

/** Whether the agent follows the versions of the tenant: neither its version nor its image is pinned. */
export function isOneAgentAutoUpdated(dynakube: DynaKube): boolean {
  const spec = firstHost(dynakube, FOR_UPDATES)
  return spec !== undefined && !spec.version && !spec.image
}

/** The pinned version of the mode; empty when it is not. */
export function customVersion(dynakube: DynaKube): string {
  const [mode] = oneAgentModes(dynakube)
  return (mode && modeSpec(dynakube, mode)?.version) ?? ''
}

/** The agent's own image; empty when it has none. */
export const customOneAgentImage = (dynakube: DynaKube): string => firstHost(dynakube, FOR_IMAGE)?.image ?? ''

/** When the agent's image is pulled, if the user sets it. */
export const oneAgentPullPolicy = (dynakube: DynaKube): ModeSpec<'cloudNativeFullStack'>['imagePullPolicy'] =>
  firstHost(dynakube, FOR_IMAGE)?.imagePullPolicy

/** The seccomp profile of the agent; empty when it has none. */
export const secCompProfile = (dynakube: DynaKube): string => firstHost(dynakube, FOR_UPDATES)?.secCompProfile ?? ''

/** More arguments for the installer. */
export const oneAgentArguments = (dynakube: DynaKube): readonly string[] =>
  firstHost(dynakube, FOR_ARGUMENTS)?.args ?? []

/** More environment variables of the agent. */
export const oneAgentEnv = (dynakube: DynaKube) => firstHost(dynakube, FOR_ARGUMENTS)?.env ?? []

/** The nodes that get an agent or, without one, a log agent; `undefined` is all of them. */
export function agentNodeSelector(dynakube: DynaKube): Readonly<Record<string, string>> | undefined {
  const mode = FOR_IMAGE.find((candidate) => isMode(dynakube, candidate))
  if (mode) return modeSpec(dynakube, mode)?.nodeSelector
  const { logMonitoring, templates } = dynakube.spec
  return logMonitoring ? templates?.logMonitoring?.nodeSelector : undefined
}

/** The namespaces that are injected; `undefined` is all of them. */
export function injectionNamespaceSelector(dynakube: DynaKube) {
  const spec = modeSpec(dynakube, 'cloudNativeFullStack') ?? modeSpec(dynakube, 'applicationMonitoring')
  return spec?.namespaceSelector
}

/** Resources of the init container; `undefined` when none are given, which is not the same as empty. */
export function initResources(dynakube: DynaKube) {
  const spec = modeSpec(dynakube, 'applicationMonitoring') ?? modeSpec(dynakube, 'cloudNativeFullStack')
  return spec?.initResources
}

/** Arguments by key, with their values in order; one without `=` has the value ''. */
export function argumentValues(args: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (const arg of args) {
    const at = arg.indexOf('=')
    const key = at < 0 ? arg : arg.slice(0, at)
    const list = values.get(key) ?? []
    list.push(at < 0 ? '' : arg.slice(at + 1))
    values.set(key, list)
  }
  return values
}

/** The host group; empty when there is none. */
export function hostGroup(dynakube: DynaKube): string {
  const fromArguments = argumentValues(oneAgentArguments(dynakube)).get('--set-host-group')
  return dynakube.spec.oneAgent?.hostGroup || (fromArguments?.[0] ?? '')
}

/** The mode as labels and metadata name it. */
export function modeNameOf(dynakube: DynaKube): 'classic_fullstack' | 'cloud_native_fullstack' | 'host_monitoring' {
  if (isMode(dynakube, 'classicFullStack')) return 'classic_fullstack'
  return isMode(dynakube, 'hostMonitoring') ? 'host_monitoring' : 'cloud_native_fullstack'
}
