/** `agent/bin/current`: a path to the agent without its version, which configuration files of web servers contain. */
import { lstat, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { inputError } from './bootstrap-error.ts'
import { isMissing } from './input-files.ts'

const VERSION = /^\d+\.\d+\.\d+\.\d+-\d+$/

/**
 * Links to the folder in `agent/bin` whose name is a version. A link that exists is kept.
 *
 * *Errors*: `BOOTSTRAP_INPUT` if there is no such folder.
 *
 * @example
 * await linkNewestVersion('/mnt/bin')
 */
export async function linkNewestVersion(target: string): Promise<void> {
  await linkCurrent(target, async (bin) => {
    const found = await readdir(bin, { withFileTypes: true })
    const folder = found.find((entry) => entry.isDirectory() && VERSION.test(entry.name))
    if (folder === undefined) throw inputError(`${bin} has no folder of a version`)
    return folder.name
  })
}

/**
 * Links to the version that `agent/installer.version` contains. A link that exists is kept.
 *
 * *Errors*: `BOOTSTRAP_INPUT` if that file or `agent/bin` is missing.
 */
export async function linkInstalledVersion(target: string): Promise<void> {
  await linkCurrent(target, () => readFile(join(target, 'agent/installer.version'), 'utf8'))
}

async function linkCurrent(target: string, version: (bin: string) => Promise<string>): Promise<void> {
  const bin = join(target, 'agent/bin')
  const link = join(bin, 'current')
  try {
    if (await isThere(link)) return
    await symlink(await version(bin), link)
  } catch (error) {
    // Made by another process meanwhile: the program of an image and the CSI driver both see to it.
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return
    if (isMissing(error)) throw inputError(`${target} contains no complete agent: ${String(error)}`, error)
    throw error
  }
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )
}
