/** What can be wrong with an archive. */

/** Stable codes of {@link ArchiveError}. */
export type ArchiveErrorCode = 'ARCHIVE_UNSAFE' | 'ARCHIVE_INVALID' | 'ARCHIVE_TOO_LARGE'

/** Base of the errors of unpacking. */
export abstract class ArchiveError extends Error {
  abstract readonly code: ArchiveErrorCode
}

/** An entry that would reach outside, or overwrite another one. The archive is malicious or badly broken. */
export class ArchiveUnsafeError extends ArchiveError {
  override readonly name = 'ArchiveUnsafeError'
  override readonly code = 'ARCHIVE_UNSAFE'
}

/** Not an archive, or a damaged one. */
export class ArchiveInvalidError extends ArchiveError {
  override readonly name = 'ArchiveInvalidError'
  override readonly code = 'ARCHIVE_INVALID'
}

/** More entries, more bytes, or a larger growth than a legitimate archive has. */
export class ArchiveTooLargeError extends ArchiveError {
  override readonly name = 'ArchiveTooLargeError'
  override readonly code = 'ARCHIVE_TOO_LARGE'
}

/** The name of an entry as it can be shown: short, and without anything that a terminal would act upon. */
export function shownName(name: string): string {
  const text = JSON.stringify(name)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
