/** Finds the exploration modules that packages declare in their `package.json`. */
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { ExplorationModuleError } from './load-exploration.ts'

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
export async function declaredExplorations(root: string): Promise<readonly string[]> {
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
