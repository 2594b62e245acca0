/** Turns the name of an archive's entry into a path that cannot leave the folder it is unpacked to. */
import { ArchiveUnsafeError, shownName } from './archive-error.ts'

const MAX_PATH_BYTES = 4_096
const MAX_SEGMENT_BYTES = 255
const MAX_DEPTH = 64

/**
 * The path below the folder, without `.` segments and trailing slash; empty for the folder itself.
 *
 * *Errors*: {@link ArchiveUnsafeError} for absolute names, names that climb, and names no file system should see.
 *
 * @example
 * entryPath('./agent/bin/') // 'agent/bin'
 */
export function entryPath(name: string): string {
  if (name.includes('\0') || name.includes('\\')) throw unsafe(name, 'has a forbidden character')
  if (name.startsWith('/')) throw unsafe(name, 'is absolute')
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw unsafe(name, 'leads out of the folder')
  const isTooLong = Buffer.byteLength(name) > MAX_PATH_BYTES || segments.length > MAX_DEPTH
  if (isTooLong || segments.some((segment) => Buffer.byteLength(segment) > MAX_SEGMENT_BYTES)) {
    throw unsafe(name, 'is too long or too deep')
  }
  return segments.join('/')
}

function unsafe(name: string, problem: string): ArchiveUnsafeError {
  return new ArchiveUnsafeError(`the entry ${shownName(name)} ${problem}`)
}
