/** Reads the files of a folder. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The texts of all files, by their path below the folder. */
export async function readFolder(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const texts = await Promise.all(
    paths.map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const),
  )
  return new Map(texts)
}
