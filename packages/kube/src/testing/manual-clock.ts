/** A clock for this package's own tests: time only passes when a test advances it. */
import type { Clock, Timer } from '../clock.ts'

/** Starts at 1,000,000 ms. */
export class ManualClock implements Clock {
  #now = 1_000_000
  #timers: { readonly at: number; readonly action: () => void }[] = []

  now(): number {
    return this.#now
  }

  schedule(delayMs: number, action: () => void): Timer {
    const timer = { at: this.#now + delayMs, action }
    this.#timers.push(timer)
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer)
      },
    }
  }

  /** Pending timers. */
  get pending(): number {
    return this.#timers.length
  }

  /** Advances the time and fires timers in order; resumed work runs in between. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      await settle()
      const next = this.#timers.filter((timer) => timer.at <= until).toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter((other) => other !== next)
      this.#now = next.at
      next.action()
    }
    this.#now = until
    await settle()
  }
}

/** Runs all work that is ready. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}
