/** Deletes what was left in the middle of an installation. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataPaths } from '../../data-paths.ts'
import { isMissing } from '../../server/file-errors.ts'
import { DOWNLOAD_PREFIX } from './install-zip.ts'

/**
 * Deletes unfinished downloads and the scratch directory. Call it at the start and before an installation: there is one at a
 * time.
 *
 * *Errors*: those of the file system.
 */
export async function removeLeftovers(paths: DataPaths): Promise<void> {
  await rm(paths.unpacking, { recursive: true, force: true })
  const entries = await readdir(paths.codeModules, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const downloads = entries.filter((entry) => entry.isFile() && entry.name.startsWith(DOWNLOAD_PREFIX))
  for (const { name } of downloads) await rm(join(paths.codeModules, name), { force: true })
}
