/** Deletes directories, but never what is mounted in them. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '@reeve/runtime'
import type { Mount } from '../../mounts/mount-table.ts'
import { isMissing } from '../../server/file-errors.ts'

/**
 * Deletes a directory unless something is mounted at it or below. What cannot be deleted is logged, and tried again by the
 * next run.
 */
export async function removeDirectory(
  path: string,
  what: string,
  { mounts, logger }: { readonly mounts: readonly Mount[]; readonly logger: Logger },
): Promise<void> {
  if (mounts.some(({ mountPoint }) => mountPoint === path || mountPoint.startsWith(`${path}/`))) {
    logger.info({ path }, `kept ${what}: something is mounted there`)
    return
  }
  try {
    await rm(path, { recursive: true, force: true })
    logger.info({ path }, `deleted ${what}`)
  } catch (error) {
    logger.error({ path, err: error }, `cannot delete ${what}`)
  }
}

/** The directories in a directory, links excluded; none if it does not exist. *Errors*: those of the file system. */
export async function directoriesIn(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name))
}
