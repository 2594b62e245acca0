/** What the targets for archives share: names, limits, and a folder from which nothing may escape. */
import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { broken } from '@reeve/fuzz'
import fc, { type Arbitrary } from 'fast-check'
import { scratchFolder } from '../../src/testing/scratch-folder.ts'

/** Small, so that bombs are detected early. */
export const LIMITS = { maxEntries: 200, maxTotalBytes: 1024 * 1024, maxRatio: 50 }

/** Names that lead where they should not, or collide. */
export const hostileName: Arbitrary<string> = fc.constantFrom(
  'a',
  'b/c',
  'b/',
  './a',
  '../escaped',
  '/etc/passwd',
  'a/../../x',
  'b\\c',
  'n'.repeat(300),
  'd/'.repeat(70),
  '',
  '.',
  '..',
  'a\u0000b',
  'ü',
  'link',
  'link/x',
  'A',
)

/** Unpacks into a new folder and checks that nothing lies, or points, outside. */
export async function nothingEscaped<T>(unpack: (folder: string) => Promise<T>): Promise<T> {
  await using scratch = await scratchFolder()
  const result = await unpack(scratch.target)
  const beside = (await readdir(scratch.path)).filter((name) => name !== 'target')
  if (beside.length > 0) throw broken('nothing is written beside the folder', beside)
  await requireInside(scratch.target, await realpath(scratch.target))
  return result
}

async function requireInside(folder: string, root: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const status = await lstat(path)
    if (status.isSymbolicLink()) {
      // A dangling link is checked by where it would point.
      const target = await realpath(path).catch(() => join(root, 'nowhere'))
      if (!target.startsWith(root)) throw broken('links lead inside the folder', name, await readlink(path))
    } else if (status.isDirectory()) await requireInside(path, root)
    else if (!status.isFile()) throw broken('nothing but files, folders and links is made', name)
  }
}
