/** Limits how many operations run concurrently; the others wait in order. */
import { RuntimeError } from '../runtime-error.ts'

/** Too many are waiting already. */
export class SemaphoreFullError extends RuntimeError {
  override readonly name = 'SemaphoreFullError'

  constructor(maxWaiting: number) {
    super('SEMAPHORE_FULL', `more than ${maxWaiting} are waiting already`)
  }
}

/**
 * @example
 * const semaphore = new Semaphore({ maxConcurrent: 100, maxWaiting: 1_000 })
 * const leave = await semaphore.enter(signal)
 * try { await work() } finally { leave() }
 */
export class Semaphore {
  readonly #maxConcurrent: number
  readonly #maxWaiting: number
  readonly #waiting: Set<() => void> = new Set()
  #inside = 0

  constructor(limits: { readonly maxConcurrent: number; readonly maxWaiting: number }) {
    this.#maxConcurrent = limits.maxConcurrent
    this.#maxWaiting = limits.maxWaiting
  }

  /**
   * Resolves when a slot is free, with the function that releases it. Rejects with the signal's reason, or when it is
   * full.
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#inside >= this.#maxConcurrent) await this.#wait(signal)
    else this.#inside++
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      this.#leave()
    }
  }

  /** A holder that leaves passes its place to the next, so the count does not change. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#inside--
    else next()
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) return Promise.reject(new SemaphoreFullError(this.#maxWaiting))
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => () => {
        this.#waiting.delete(admit)
        signal.removeEventListener('abort', onAbort)
        finish()
      }
      const admit = settle(resolve)
      const onAbort = settle(() => reject(signal.reason))
      this.#waiting.add(admit)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}
