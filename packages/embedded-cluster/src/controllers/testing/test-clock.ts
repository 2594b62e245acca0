/** A clock for tests of the controllers: time only passes when a test advances it. */
import type { Clock, Timer } from '../../clock.ts'

interface Pending {
  readonly dueMs: number
  readonly sequence: number
  readonly action: () => void
}

/** Fires timers in order, and lets all work settle between two of them. */
export class TestClock implements Clock {
  readonly #settle: () => Promise<void>
  readonly #timers = new Set<Pending>()
  #nowMs = Date.UTC(2030, 0, 1)
  #sequence = 0

  constructor(settle: () => Promise<void>) {
    this.#settle = settle
  }

  now(): number {
    return this.#nowMs
  }

  schedule(delayMs: number, action: () => void): Timer {
    const pending = { dueMs: this.#nowMs + Math.max(0, delayMs), sequence: this.#sequence++, action }
    this.#timers.add(pending)
    return { cancel: () => this.#timers.delete(pending) }
  }

  /** Pending timers. */
  get pendingTimers(): number {
    return this.#timers.size
  }

  /** Advances the time by `ms` and fires timers that become due. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await this.#settle()
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#timers.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      next.action()
      // All timers due at one instant fire before work continues.
      if (this.#next(this.#nowMs) === undefined) await this.#settle()
    }
    this.#nowMs = untilMs
    await this.#settle()
  }

  #next(untilMs: number): Pending | undefined {
    let first: Pending | undefined
    for (const pending of this.#timers) {
      if (pending.dueMs > untilMs) continue
      const isEarlier = first === undefined || pending.dueMs < first.dueMs
      if (isEarlier || (pending.dueMs === first?.dueMs && pending.sequence < first.sequence)) first = pending
    }
    return first
  }
}
