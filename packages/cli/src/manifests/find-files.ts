/** Finds the files behind the names of a command line: folders are searched. */
import { opendir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** A file that cannot be read, or a folder without manifests. */
export class ManifestFileError extends Error {
  readonly code = 'MANIFEST_FILE'
  override readonly name = 'ManifestFileError'
}

/** What kubectl reads in a folder, too. */
const EXTENSIONS = new Set(['.yaml', '.yml', '.json'])

/** More files than this in a folder are probably not meant. */
const MAX_FILES = 10_000

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
  ELOOP: 'too many symbolic links',
}

/**
 * The files of a name: itself or, for a folder, all YAML and JSON files below it in alphabetical order.
 *
 * *Errors*: {@link ManifestFileError} naming the file or folder.
 *
 * @example
 * await findFiles('deploy') // ['deploy/a.yaml', 'deploy/b/c.json']
 */
export async function findFiles(name: string): Promise<readonly string[]> {
  const isFolder = await readable(name, async () => (await stat(name)).isDirectory())
  if (!isFolder) return [name]
  const files: string[] = []
  await readable(name, () => search(name, name, files))
  if (files.length === 0) throw new ManifestFileError(`${name}: there are no .yaml, .yml or .json files in this folder`)
  return files.sort()
}

/** Symbolic links to folders are not followed: they could form a cycle. */
async function search(root: string, folder: string, files: string[]): Promise<void> {
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await search(root, path, files)
    else if (EXTENSIONS.has(extname(entry.name))) files.push(path)
    if (files.length > MAX_FILES)
      throw new ManifestFileError(`${root}: more than ${MAX_FILES} manifests in this folder`)
  }
}

/**
 * Runs an operation on a file and translates errors of the file system.
 *
 * @example
 * const text = await readable(file, () => readFile(file, 'utf8'))
 */
export async function readable<T>(file: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    const reason = REASONS[code]
    if (reason === undefined) throw error
    throw new ManifestFileError(`${file}: ${reason}`, { cause: error })
  }
}
