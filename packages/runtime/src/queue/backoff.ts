/** How long to wait before trying again. */

/** Options of {@link exponentialBackoff}. */
export interface BackoffOptions {
  /** Delay of the first retry. @default 1_000 */
  readonly baseMs?: number
  /** No delay grows beyond this, before jitter. @default 300_000 */
  readonly maxMs?: number
  /**
   * Maximum jitter, as a fraction of the delay, so that a thousand keys that failed together are not
   * retried together. Small by default: 1 s, 2 s, 4 s … stay recognizable. @default 0.1
   */
  readonly jitter?: number
}

/** Delays of the workqueue: documented for users of the operators. */
export const DEFAULT_BACKOFF: Required<BackoffOptions> = Object.freeze({ baseMs: 1_000, maxMs: 300_000, jitter: 0.1 })

/**
 * The delay before retry number `failures` (1 for the first): `baseMs`, doubling up to `maxMs`, plus at most
 * `jitter` of itself.
 *
 * @example
 * exponentialBackoff(3, { random: () => 0 }) // 4_000
 */
export function exponentialBackoff(
  failures: number,
  options: BackoffOptions & { readonly random: () => number },
): number {
  const { baseMs, maxMs, jitter } = { ...DEFAULT_BACKOFF, ...options }
  // Beyond 2^30 the cap has long been reached; clamping keeps the power finite for keys that fail for months.
  const exponent = Math.min(Math.max(failures - 1, 0), 30)
  const delay = Math.min(baseMs * 2 ** exponent, maxMs)
  return Math.round(delay * (1 + jitter * options.random()))
}
