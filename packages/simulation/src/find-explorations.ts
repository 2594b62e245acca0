/** Finds the modules that describe operators for the exploration: by their file names, or by those a user gives. */
import { globSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { ExplorationModuleError, loadExploration } from './load-exploration.ts'

/** Where modules are found by themselves. */
export const EXPLORATION_MODULES = 'operators/*/{src,test}/{exploration,*.exploration}.ts'

/** What to look for. */
export interface Wanted {
  /** Paths of modules. @default those that are found by themselves */
  readonly modules?: readonly string[]
  /** Names of operators. @default all of them */
  readonly operators?: readonly string[]
}

/** A module and the operator that it describes. */
export interface FoundExploration {
  readonly path: string
  readonly operator: string
}

/**
 * The modules to explore, in the order of their paths.
 *
 * *Errors*: {@link ExplorationModuleError} when there is none, when two describe operators of the same name, when a name
 * is not that of any operator, or when a module cannot be loaded that might be wanted.
 *
 * @example
 * const found = await findExplorations('/repo', { operators: ['webapp'] })
 */
export async function findExplorations(
  root: string,
  { modules = [], operators = [] }: Wanted = {},
): Promise<readonly FoundExploration[]> {
  const paths = modules.length > 0 ? modules : globSync(EXPLORATION_MODULES, { cwd: root }).toSorted()
  if (paths.length === 0) throw new ExplorationModuleError(`no ${EXPLORATION_MODULES} here: name one with --module`)
  const found: FoundExploration[] = []
  let broken: unknown
  for (const path of paths.map((given) => resolve(root, given))) {
    const operator = await loadExploration(path).then(
      (exploration) => exploration.operator.name,
      (error: unknown) => {
        // It matters only when it might be the one that is asked for.
        if (operators.length === 0) throw error
        broken ??= error
      },
    )
    if (operator === undefined) continue
    const other = found.find((earlier) => earlier.operator === operator)
    if (other !== undefined) {
      const both = [other.path, path].map((one) => relative(root, one)).join(' and ')
      throw new ExplorationModuleError(`${both} both describe "${operator}": give one of them another operator.name`)
    }
    found.push({ path, operator })
  }
  const names = found.map(({ operator }) => operator)
  const unknown = operators.find((name) => !names.includes(name))
  if (unknown !== undefined && broken !== undefined) throw broken
  if (unknown !== undefined) throw new ExplorationModuleError(`no operator "${unknown}"; there is ${names.join(', ')}`)
  return operators.length === 0 ? found : found.filter(({ operator }) => operators.includes(operator))
}
