/** Time as a dependency, so that a whole cluster can run on a simulated clock. */

/** A scheduled action. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void
}

/** A source of time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  schedule(delayMs: number, action: () => void): Timer
}

/** The system clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, action) {
    const handle = setTimeout(action, delayMs)
    handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
}

/** A time in milliseconds in the API's format: whole seconds, UTC. */
export function timestamp(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`
}
