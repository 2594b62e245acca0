/** The OneAgent between versions: one mode is kept, and `autoUpdate` leaves or returns. */
import { ONE_AGENT_MODES, type OneAgentMode } from '../dynakube/one-agent-facts.ts'
import type { DynaKubeSpec } from '../latest.ts'
import { type DynaKubeV1Beta5, omit } from './versions.ts'

type Latest = NonNullable<DynaKubeSpec['oneAgent']>
type Old = NonNullable<DynaKubeV1Beta5['spec']['oneAgent']>
type ModeSettings = NonNullable<Old[OneAgentMode]> & { readonly autoUpdate?: boolean }

/** What leaves an old version. */
export interface RaisedOneAgent {
  readonly oneAgent: Latest | undefined
  readonly autoUpdate: boolean | undefined
  /** Whether the mode is one that has the field. */
  readonly hasAutoUpdate: boolean
}

/** From an old version. Of several modes, which admission rejects, the first is kept. */
export function raiseOneAgent(old: Old | undefined): RaisedOneAgent {
  const mode = activeMode(old)
  if (old === undefined || mode === undefined) {
    return { oneAgent: old && withMode(old, undefined, {}), autoUpdate: undefined, hasAutoUpdate: false }
  }
  const settings: ModeSettings = old[mode] ?? {}
  return {
    oneAgent: withMode(old, mode, omit(settings, 'autoUpdate')),
    autoUpdate: settings.autoUpdate ?? undefined,
    hasAutoUpdate: hasAutoUpdate(mode),
  }
}

/** To an old version. */
export function lowerOneAgent(latest: Latest | undefined, autoUpdate: boolean | undefined): Old | undefined {
  if (latest === undefined) return undefined
  const mode = activeMode(latest)
  const settings = (mode && latest[mode]) ?? {}
  const isRestored = mode !== undefined && hasAutoUpdate(mode) && autoUpdate !== undefined
  const lowered = omit<ModeUpdates, keyof ModeUpdates>(settings, ...MODE_UPDATES)
  return withMode(latest, mode, isRestored ? { ...lowered, autoUpdate } : lowered)
}

/** Fields of modes that only v1beta6 has. */
type ModeUpdates = Pick<
  NonNullable<Latest['cloudNativeFullStack']>,
  'imagePullPolicy' | 'rollingUpdate' | 'codeModulesImagePullPolicy'
>
const MODE_UPDATES = ['imagePullPolicy', 'rollingUpdate', 'codeModulesImagePullPolicy'] as const

const activeMode = (oneAgent: Old | Latest | undefined): OneAgentMode | undefined =>
  ONE_AGENT_MODES.find((mode) => oneAgent?.[mode])

const hasAutoUpdate = (mode: OneAgentMode): boolean => mode !== 'applicationMonitoring'

/** Both versions have the same modes, and the caller converted the settings to this mode. */
function withMode(oneAgent: Old | Latest, mode: OneAgentMode | undefined, settings: object): Old & Latest {
  const { hostGroup } = oneAgent
  return { ...(hostGroup !== undefined && { hostGroup }), ...(mode && { [mode]: settings }) } as Old & Latest
}
