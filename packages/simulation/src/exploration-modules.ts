/** Finds and loads the modules that describe operators for the exploration: those that packages declare, or a user names. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Exploration } from './operator-under-test.ts'

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

/** A module that does not exist, or lacks the export. */
class ExplorationModuleError extends Error {
  override readonly name = 'ExplorationModuleError'
  readonly code = 'EXPLORATION_MODULE'
}

/** Imports the module and checks that it exports an exploration. */
export async function loadExploration(path: string): Promise<Exploration> {
  const { exploration } = await importModule(path)
  if (exploration?.operator === undefined || exploration.scenario === undefined) {
    throw new ExplorationModuleError(`${path} must export \`exploration: { operator, scenario }\``)
  }
  return exploration
}

async function importModule(path: string): Promise<{ readonly exploration?: Exploration }> {
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new ExplorationModuleError(`${path} cannot be loaded: ${reason}`, { cause: error })
  }
}

/** What is read of a `package.json`; anyone may have written anything there. */
interface PackageManifest {
  readonly workspaces?: unknown
  readonly reeve?: { readonly explorations?: unknown } | null
}

/**
 * The absolute paths of the modules that the package at `root` and its workspaces declare under `reeve.explorations`,
 * in order.
 *
 * *Errors*: {@link ExplorationModuleError} for a `package.json` that is not valid JSON or declares something else than
 * a list of paths.
 *
 * @example
 * // operators/shop/package.json: { "reeve": { "explorations": ["./exploration/shop.ts"] } }
 * await declaredExplorations('/repo') // ['/repo/operators/shop/exploration/shop.ts']
 */
async function declaredExplorations(root: string): Promise<readonly string[]> {
  const own = join(root, 'package.json')
  const workspaces = stringList(root, own, 'workspaces', (await readManifest(root, own))?.workspaces)
  const patterns = workspaces.map((pattern) => `${pattern}/package.json`)
  const others = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] }).map((path) => join(root, path))
  const modules: string[] = []
  for (const path of [own, ...new Set(others)].toSorted()) {
    const manifest = await readManifest(root, path)
    const declared = stringList(root, path, 'reeve.explorations', manifest?.reeve?.explorations)
    modules.push(...declared.map((module) => join(dirname(path), module)))
  }
  return modules
}

/** The manifest, or `undefined` when there is none. */
async function readManifest(root: string, path: string): Promise<PackageManifest | null | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ExplorationModuleError(`${relative(root, path)} is not valid JSON`, { cause: error })
  }
}

function stringList(root: string, path: string, field: string, value: unknown): readonly string[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  throw new ExplorationModuleError(`${relative(root, path)}: ${field} must be a list of paths`)
}
