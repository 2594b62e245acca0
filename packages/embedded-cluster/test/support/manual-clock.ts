/** A clock that only advances when a test calls it, synchronously. */
import type { Clock, Timer } from '../../src/index.ts'

interface Pending {
  readonly dueMs: number
  readonly action: () => void
}

/** Timers fire in order of their time, during {@link ManualClock.advance}. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Pending>()
  #nowMs = Date.UTC(2030, 0, 1)

  now(): number {
    return this.#nowMs
  }

  /** Timers that have not fired. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  schedule(delayMs: number, action: () => void): Timer {
    const pending = { dueMs: this.#nowMs + delayMs, action }
    this.#timers.add(pending)
    return { cancel: () => this.#timers.delete(pending) }
  }

  advance(ms: number): void {
    const untilMs = this.#nowMs + ms
    for (;;) {
      const [next] = [...this.#timers].filter(({ dueMs }) => dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#nowMs = next.dueMs
      next.action()
    }
    this.#nowMs = untilMs
  }
}
