/** Finds the modules that describe operators for the exploration: those that packages declare, or that a user names. */
import { relative, resolve } from 'node:path'
import { declaredExplorations } from './declared-explorations.ts'
import { ExplorationModuleError, loadExploration } from './load-exploration.ts'

/** What to find. */
export interface Wanted {
  /** Paths of modules. @default those that packages declare under `reeve.explorations` */
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
 * The modules to explore, in the order of the packages that declare them.
 *
 * *Errors*: {@link ExplorationModuleError} when there is none, when two describe operators of the same name, when a name
 * is not that of any operator, or when a module cannot be loaded that might be needed.
 *
 * @example
 * const found = await findExplorations('/repo', { operators: ['webapp'] })
 */
export async function findExplorations(
  root: string,
  { modules = [], operators = [] }: Wanted = {},
): Promise<readonly FoundExploration[]> {
  const paths = modules.length > 0 ? modules : await declaredExplorations(root)
  if (paths.length === 0) {
    throw new ExplorationModuleError(
      'no package.json here declares reeve.explorations: declare a module there or name one with --module',
    )
  }
  const found: FoundExploration[] = []
  let broken: unknown
  for (const path of paths.map((given) => resolve(root, given))) {
    const operator = await loadExploration(path).then(
      (exploration) => exploration.operator.name,
      (error: unknown) => {
        // It matters only when it might be the one that is requested.
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
