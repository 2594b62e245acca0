/** What bounds and observes unpacking. */

/** The most an archive may be. Everything that an agent is stays far below. */
export interface UnpackLimits {
  readonly maxEntries: number
  /** Of all files together, unpacked. */
  readonly maxTotalBytes: number
  /** Unpacked size in relation to the packed one. */
  readonly maxRatio: number
}

/** Ten times the largest agent there has been. */
export const DEFAULT_UNPACK_LIMITS: UnpackLimits = Object.freeze({
  maxEntries: 100_000,
  maxTotalBytes: 16 * 1024 ** 3,
  maxRatio: 200,
})

/** Below this, a large ratio is only a sign of an empty file. */
export const RATIO_FREE_BYTES = 16 * 1024 ** 2

/** How far unpacking is. */
export interface UnpackProgress {
  readonly entries: number
  readonly bytes: number
}

/** An entry that was left out, and why. */
export interface SkippedEntry {
  readonly name: string
  readonly reason: 'unsafe-link' | 'special-file'
}

/** Options of `unpackZip` and `unpackTar`. */
export interface UnpackOptions {
  readonly signal?: AbortSignal
  /** @default {@link DEFAULT_UNPACK_LIMITS} */
  readonly limits?: UnpackLimits
  /** The permissions of a file, given those in the archive. Never more than read, write, execute. @default those */
  readonly fileMode?: (path: string, mode: number) => number
  readonly onProgress?: (progress: UnpackProgress) => void
  /** Told of every entry that was left out. */
  readonly onSkip?: (skipped: SkippedEntry) => void
}

/** Whether all agents of a pod, under whatever user they run, must be able to write a file. */
const SHARED_CONFIGURATION = /^agent\/conf/

/**
 * Permissions of the files of an agent: configuration is written by agents of arbitrary users.
 *
 * @example
 * await unpackZip(file, folder, { fileMode: agentFileMode })
 */
export function agentFileMode(path: string, mode: number): number {
  return SHARED_CONFIGURATION.test(path) ? 0o666 : mode
}
