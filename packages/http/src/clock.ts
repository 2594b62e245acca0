/** Time as a dependency: the system clock in production, a simulated one in tests. */

/** A pending timer. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void
}

/**
 * Code that reads or waits for time has a `Clock` parameter, so that a test can run hours in milliseconds.
 *
 * @example
 * const clock: Clock = systemClock
 * const timer = clock.schedule(1_000, () => console.log('a second later'))
 * timer.cancel()
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `action` once after `delayMs`. A pending timer does not keep the process alive. */
  schedule(delayMs: number, action: () => void): Timer
}

/** The system clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, action) {
    const handle = setTimeout(action, delayMs)
    return { cancel: () => clearTimeout(handle) }
  },
}

/**
 * Waits `delayMs` on `clock`; rejects with the signal's reason when aborted first.
 *
 * @example
 * await sleep(500, { clock, signal })
 */
export function sleep(delayMs: number, options: { clock?: Clock; signal?: AbortSignal } = {}): Promise<void> {
  const { clock = systemClock, signal } = options
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    const onAbort = () => {
      timer.cancel()
      reject(signal?.reason)
    }
    const timer = clock.schedule(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
