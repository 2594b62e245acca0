/** A limit on how often something may happen, with bursts. */

/** Options of {@link TokenBucket}. */
export interface TokenBucketOptions {
  /** How many per second in the long run. @default 10 */
  readonly perSecond?: number
  /** Size of a burst. @default 100 */
  readonly burst?: number
}

/**
 * Limits a rate: a caller that finds the bucket empty gets the time to wait, and later callers wait
 * behind it.
 *
 * @example
 * const bucket = new TokenBucket(clock.now(), { perSecond: 10, burst: 100 })
 * const delayMs = bucket.reserve(clock.now())
 */
export class TokenBucket {
  readonly #msPerToken: number
  readonly #burst: number
  #tokens: number
  #filledAtMs: number

  constructor(nowMs: number, options: TokenBucketOptions = {}) {
    const { perSecond = 10, burst = 100 } = options
    this.#msPerToken = 1_000 / perSecond
    this.#burst = burst
    this.#tokens = burst
    this.#filledAtMs = nowMs
  }

  /** Takes one token and returns in how many milliseconds it may be used: 0 if one is available. */
  reserve(nowMs: number): number {
    // A clock that was set back must not drain the bucket.
    const elapsedMs = Math.max(0, nowMs - this.#filledAtMs)
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsedMs / this.#msPerToken)
    this.#filledAtMs = nowMs
    this.#tokens -= 1
    return this.#tokens >= 0 ? 0 : Math.ceil(-this.#tokens * this.#msPerToken)
  }
}
