/** Deletes what nothing on this node needs any more. */
import { removeEmptyDirectory } from '../../remove-empty-directory.ts'
import { needsDirectory } from '../dynakube-directory.ts'
import type { CleanupContext } from './cleanup-context.ts'
import { removeCodeModules, removeDynaKubeDirectories } from './remove-code-modules.ts'
import { directoriesIn } from './remove-directory.ts'
import { removeHostStorage } from './remove-host-storage.ts'
import { removeJobDirectories } from './remove-job-directories.ts'
import { removeLegacy } from './remove-legacy.ts'

/** When to retry deleting what pods of a deleted DynaKube still use: the chart may be uninstalled next. */
const IN_USE_MS = 30_000

/** What came of a clean-up. */
export interface CleanupOutcome {
  /** How many agents were deleted. */
  readonly deleted: number
  /** When something can be deleted that may still be in use now; absent if there is nothing like that. */
  readonly againInMs?: number
}

/**
 * Cleans up once. Volumes of pods are not touched: the kubelet unpublishes them.
 *
 * *Guarantees*: an agent that a pod uses is never deleted, nor one that is about to be linked; nothing is deleted of which
 * only the API server can tell whether it is needed, unless it told.
 *
 * *Errors*: those of the API server, of the table of mounts and of the data directory. What was deleted until then had to
 * be deleted, and the next run continues.
 */
export async function cleanUp(context: CleanupContext): Promise<CleanupOutcome> {
  const mounts = await context.readMounts()
  const legacy = await removeLegacy({ ...context, mounts })
  const dynakubes = (await context.listDynaKubes()).filter(needsDirectory)
  await removeHostStorage(dynakubes, legacy, { ...context, mounts })
  const deleted = await removeCodeModules(dynakubes, context)
  await removeDynaKubeDirectories(dynakubes, { ...context, mounts })
  const waitsMs = [
    await removeJobDirectories({ ...context, mounts }),
    // As long as there is a DynaKube, the next regular clean-up finds it.
    dynakubes.length === 0 && (await hasDirectories(context)) ? IN_USE_MS : undefined,
  ].filter((waitMs) => waitMs !== undefined)
  if (dynakubes.length === 0) await removeEmptyDirectories(context)
  return { deleted, ...(waitsMs.length > 0 && { againInMs: Math.min(...waitsMs) }) }
}

/** The chart may be uninstalled next, and nobody would delete them then. */
async function removeEmptyDirectories({ paths, logger }: CleanupContext): Promise<void> {
  for (const path of [paths.codeModules, paths.dynakubes, paths.jobs]) await removeEmptyDirectory(path, logger)
}

/** Whether agents, or storage of host agents, are left. */
async function hasDirectories({ paths }: CleanupContext): Promise<boolean> {
  const left = await Promise.all([directoriesIn(paths.codeModules), directoriesIn(paths.dynakubes)])
  return left.flat().length > 0
}
