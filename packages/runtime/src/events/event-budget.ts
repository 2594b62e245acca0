/** How many requests the events of one object may cost. */

/**
 * A bucket of tokens that refills slowly. Unlike a reservation, a request beyond the budget is rejected.
 *
 * @example
 * const budget = new EventBudget(clock.now(), { burst: 25, refillIntervalMs: 300_000 })
 * if (!budget.tryTake(clock.now())) return
 */
export class EventBudget {
  readonly #burst: number
  readonly #refillIntervalMs: number
  #tokens: number
  #filledAtMs: number

  constructor(nowMs: number, options: { readonly burst: number; readonly refillIntervalMs: number }) {
    this.#burst = options.burst
    this.#refillIntervalMs = options.refillIntervalMs
    this.#tokens = options.burst
    this.#filledAtMs = nowMs
  }

  /** Whether there was a token, which is then taken. */
  tryTake(nowMs: number): boolean {
    // A clock that was set back must not drain the bucket.
    const elapsedMs = Math.max(0, nowMs - this.#filledAtMs)
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsedMs / this.#refillIntervalMs)
    this.#filledAtMs = nowMs
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
