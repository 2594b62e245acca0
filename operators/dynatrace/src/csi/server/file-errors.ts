/** Distinguishes errors of the file system. */

/** Whether an error says that a file does not exist. */
export const isMissing = (error: unknown): boolean => hasCode(error, 'ENOENT')

/** Whether an error says that a file exists already. */
export const isTaken = (error: unknown): boolean => hasCode(error, 'EEXIST')

/** Whether an error says that a directory has content. */
export const isNotEmpty = (error: unknown): boolean => hasCode(error, 'ENOTEMPTY')

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
