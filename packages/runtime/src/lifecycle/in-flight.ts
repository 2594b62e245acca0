/** Counts operations in progress, so that a stop can wait for them. */

/**
 * @example
 * const requests = new InFlight()
 * const leave = requests.enter()
 * try { await serve() } finally { leave() }
 * await requests.whenIdle(deadline)
 */
export class InFlight {
  readonly #waiters = new Set<() => void>()
  #count = 0

  /** How many are in progress. */
  get count(): number {
    return this.#count
  }

  /** Adds one. Returns the function that removes it; calling that twice does nothing. */
  enter(): () => void {
    this.#count++
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      this.#count--
      if (this.#count === 0) for (const resolve of this.#waiters) resolve()
    }
  }

  /** Resolves when nothing is in progress. Rejects with the signal's reason when that comes first. */
  whenIdle(signal: AbortSignal): Promise<void> {
    if (this.#count === 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => () => {
        signal.removeEventListener('abort', onAbort)
        this.#waiters.delete(onIdle)
        finish()
      }
      const onIdle = settle(resolve)
      const onAbort = settle(() => reject(signal.reason))
      if (signal.aborted) return onAbort()
      this.#waiters.add(onIdle)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
