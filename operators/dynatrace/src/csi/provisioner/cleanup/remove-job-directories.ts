/** Deletes what download Jobs left that were stopped before they were done. */
import { lstat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Mount } from '../../mounts/mount-table.ts'
import { JOB_LIFETIME_MS } from '../download-job.ts'
import type { CleanupContext } from './cleanup-context.ts'
import { directoriesIn, removeDirectory } from './remove-directory.ts'

/**
 * Deletes scratch directories whose Job is gone; returns when the next one can be deleted, if there is any.
 *
 * A pod outlives its Job for a moment. If its directory were deleted while it still copies, what it copies afterwards would
 * be renamed to an agent of which a part is missing. So directories stay for as long as a pod could be running.
 */
export async function removeJobDirectories(
  context: CleanupContext & { readonly mounts: readonly Mount[] },
): Promise<number | undefined> {
  const directories = await directoriesIn(context.paths.jobs)
  if (directories.length === 0) return undefined
  const jobs = new Set(await context.listJobs())
  const waitsMs: number[] = []
  for (const directory of directories.filter((path) => !jobs.has(basename(path)))) {
    // When it was created: files of an agent are in directories below.
    const createdMs = await lstat(directory).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    )
    if (createdMs === undefined) continue
    const leftMs = createdMs + JOB_LIFETIME_MS - context.clock.now()
    if (leftMs > 0) waitsMs.push(leftMs)
    else await removeDirectory(directory, 'what a Job left', context)
  }
  return waitsMs.length === 0 ? undefined : Math.min(...waitsMs)
}
