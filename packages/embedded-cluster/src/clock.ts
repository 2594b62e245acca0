/** Time as a parameter, so that a whole cluster can run under a simulated clock. */

/** Something scheduled. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void
}

/** Where time comes from. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  schedule(delayMs: number, action: () => void): Timer
}

/** The clock of the machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, action) {
    const handle = setTimeout(action, delayMs)
    handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
}
