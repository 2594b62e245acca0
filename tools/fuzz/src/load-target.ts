/** Finds and loads targets: `fuzz/<name>.fuzz.ts` in packages, operators and tools. */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FuzzTarget } from './target.ts'

/** Where targets are. */
const TARGET_FILES = '{packages,operators,tools}/*/fuzz/*.fuzz.ts'

/** A file with a target in it. */
export interface TargetFile {
  /** The name of the file without `.fuzz.ts`. */
  readonly name: string
  readonly path: string
}

/** A target that does not exist or cannot be used. */
export class TargetError extends Error {
  override readonly name = 'TargetError'
  readonly code = 'TARGET'
}

/**
 * All targets of the repository at `root`, by name.
 *
 * *Errors*: {@link TargetError} when two have the same name.
 *
 * @example
 * const names = findTargets(process.cwd()).map(({ name }) => name)
 */
export function findTargets(root: string): readonly TargetFile[] {
  const files = globSync(TARGET_FILES, { cwd: root }).map((path) => ({
    name: basename(path, '.fuzz.ts'),
    path: resolve(root, path),
  }))
  const sorted = files.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  for (const [index, { name, path }] of sorted.entries()) {
    const other = sorted[index + 1]
    if (other?.name === name) throw new TargetError(`${path} and ${other.path} have the same name; rename one`)
  }
  return sorted
}

/**
 * The target in a file.
 *
 * *Errors*: {@link TargetError} when the file exports none.
 */
export async function loadTarget(path: string): Promise<FuzzTarget> {
  const { target } = (await import(pathToFileURL(path).href)) as { readonly target?: FuzzTarget }
  if (typeof target?.run !== 'function')
    throw new TargetError(`${path} does not export a fuzz target: export const target`)
  return target
}

/** The seeds beside a target: all files in `corpus/<name>/`, in the order of their names. */
export function seedsOf({ name, path }: TargetFile): readonly Uint8Array[] {
  return filesIn(join(dirname(path), 'corpus', name))
}

/** The content of all files in a folder; none when it does not exist. */
export function filesIn(folder: string): readonly Uint8Array[] {
  const names = globSync('*', { cwd: folder }).length === 0 ? [] : readdirSync(folder)
  return names.toSorted().map((file) => readFileSync(join(folder, file)))
}
