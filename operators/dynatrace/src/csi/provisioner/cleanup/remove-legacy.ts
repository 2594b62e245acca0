/**
 * Deletes what nothing needs directly below the data directory: scratch directories, what is left of detached volumes, and
 * the layout of earlier releases.
 */
import { readdir, rmdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Mount } from '../../mounts/mount-table.ts'
import type { CleanupContext } from './cleanup-context.ts'
import { directoriesIn, removeDirectory } from './remove-directory.ts'

type LegacyContext = Pick<CleanupContext, 'paths' | 'logger'> & { readonly mounts: readonly Mount[] }

/**
 * Deletes unknown directories and volumes of earlier releases that are no longer mounted. Files stay: an earlier release
 * has its database there.
 *
 * Returns the storage of host agents of earlier releases, about which only the DynaKubes can tell.
 *
 * *Errors*: if the data directory cannot be read.
 */
export async function removeLegacy(context: LegacyContext): Promise<readonly string[]> {
  const { paths } = context
  const known = new Set([paths.appMounts, paths.jobs, paths.dynakubes, paths.codeModules])
  const storages: string[] = []
  for (const directory of await directoriesIn(paths.root)) {
    if (known.has(directory)) continue
    const hasVolumes = await exists(join(directory, 'run'))
    const hasStorage = await exists(join(directory, 'osagent'))
    if (hasVolumes) await removeLegacyVolumes(join(directory, 'run'), context)
    if (hasStorage) storages.push(join(directory, 'osagent'))
    if (!hasVolumes && !hasStorage) await removeDirectory(directory, 'an unknown directory', context)
  }
  return storages
}

async function removeLegacyVolumes(run: string, context: LegacyContext): Promise<void> {
  for (const volume of await directoriesIn(run)) {
    const content = await readdir(join(volume, 'mapped')).catch(() => [])
    if (content.length === 0) await removeDirectory(volume, 'a volume of an earlier release', context)
    else context.logger.info({ volume: basename(volume) }, 'a volume of an earlier release is still mounted')
  }
  // The directory around it is unknown then, and deleted by the next run.
  await rmdir(run).catch(() => undefined)
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
