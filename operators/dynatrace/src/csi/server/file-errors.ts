/** Distinguishes errors of the file system. */

/** Whether an error says that a file does not exist. */
export const isMissing = (error: unknown): boolean => hasCode(error, 'ENOENT')

/** Whether an error says that a file exists already. */
export const isTaken = (error: unknown): boolean => hasCode(error, 'EEXIST')

/** Whether an error says that a directory has content. */
export const isNotEmpty = (error: unknown): boolean => hasCode(error, 'ENOTEMPTY')

/** Whether an error says that a file, or a link, is where a directory has to be. */
export const isNoDirectory = (error: unknown): boolean => hasCode(error, 'ENOTDIR') || hasCode(error, 'ELOOP')

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
