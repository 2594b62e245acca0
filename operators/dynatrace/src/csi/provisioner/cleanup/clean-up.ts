/** Deletes what nothing on this node needs any more. */
import { basename } from 'node:path'
import { needsAppInjection, supportsReadOnlyHost } from '../../../api/dynakube/one-agent-facts.ts'
import type { CleanupContext } from './cleanup-context.ts'
import { removeCodeModules, removeDynaKubeDirectories } from './remove-code-modules.ts'
import { directoriesIn, removeDirectory } from './remove-directory.ts'
import { removeHostStorage } from './remove-host-storage.ts'
import { removeLegacy } from './remove-legacy.ts'

/**
 * Cleans up once; returns how many agents were deleted. Volumes of pods are not touched: the kubelet unpublishes them.
 *
 * *Guarantees*: an agent that a pod uses is never deleted; nothing is deleted of which only the API server can tell
 * whether it is needed, unless it told.
 *
 * *Errors*: those of the API server, of the table of mounts and of the data directory. What was deleted until then had to
 * be deleted, and the next run continues.
 */
export async function cleanUp(context: CleanupContext): Promise<number> {
  const { paths } = context
  const mounts = await context.readMounts()
  const legacy = await removeLegacy({ ...context, mounts })
  const all = await context.listDynaKubes()
  const dynakubes = all.filter((dynakube) => needsAppInjection(dynakube) || supportsReadOnlyHost(dynakube))
  await removeHostStorage(dynakubes, legacy, { ...context, mounts })
  const deleted = await removeCodeModules(dynakubes, context)
  await removeDynaKubeDirectories(dynakubes, { ...context, mounts })
  // Of a Job that is gone, which was stopped before it was done.
  const jobs = new Set(await context.listJobs())
  for (const directory of await directoriesIn(paths.jobs)) {
    if (!jobs.has(basename(directory))) await removeDirectory(directory, 'what a Job left', { ...context, mounts })
  }
  return deleted
}
