/** Which parts of the operator were installed: the chart can leave out each with its permissions. */

/** The parts, by the name in the chart. */
export const MODULES = [
  'csiDriver',
  'activeGate',
  'oneAgent',
  'extensions',
  'logMonitoring',
  'edgeConnect',
  'supportability',
  'kubernetesMonitoring',
  'kspm',
] as const

/** What is installed. */
export type Modules = Readonly<Record<(typeof MODULES)[number], boolean>>

/** The environment variable that the chart writes. */
export const MODULES_VARIABLE = 'modules.json'

/** Everything is installed. */
export const ALL_MODULES: Modules = modulesBy(() => true)

/**
 * Reads the environment variable. If it is absent, unreadable or has a member that is not a boolean, everything is
 * installed; what a readable text does not mention is not. Case does not matter.
 */
export function parseModules(text: string | undefined): Modules {
  let value: unknown
  try {
    value = JSON.parse(text ?? '')
  } catch {
    // An installation without the chart has no such variable, or an own idea of it: it must not lose features by that.
    return ALL_MODULES
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return ALL_MODULES
  const entries = Object.entries(value).map(([name, isOn]) => [name.toLowerCase(), isOn] as const)
  const given = new Map<string, unknown>(entries)
  const isReadable = MODULES.every((name) => ['undefined', 'boolean'].includes(typeof given.get(name.toLowerCase())))
  return isReadable ? modulesBy((name) => given.get(name.toLowerCase()) === true) : ALL_MODULES
}

function modulesBy(isOn: (name: keyof Modules) => boolean): Modules {
  // Every name of the union is in the list.
  return Object.fromEntries(MODULES.map((name) => [name, isOn(name)])) as Modules
}
