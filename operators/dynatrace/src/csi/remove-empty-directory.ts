/** Deletes directories that only the driver needs, so that nothing of it stays on a node. */
import { rmdir } from 'node:fs/promises'
import type { Logger } from '@reeve/runtime'
import { isMissing, isNotEmpty } from './server/file-errors.ts'

/** Deletes a directory if it is empty; whoever needs it again creates it. An empty one that cannot be deleted is logged. */
export async function removeEmptyDirectory(path: string, logger: Logger): Promise<void> {
  try {
    await rmdir(path)
  } catch (error) {
    if (!isMissing(error) && !isNotEmpty(error)) logger.warn({ path, err: error }, 'cannot delete an empty directory')
  }
}
