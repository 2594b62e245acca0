/** What bounds and observes unpacking. */

/** The most that an archive may hold. */
export interface UnpackLimits {
  readonly maxEntries: number
  /** Of all files together, unpacked. */
  readonly maxTotalBytes: number
  /** Unpacked size in relation to the packed one. */
  readonly maxRatio: number
}

/** Ten times the largest archive that an operator has to do with. */
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
  /** Called for every entry that was skipped. */
  readonly onSkip?: (skipped: SkippedEntry) => void
}
