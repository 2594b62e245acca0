/** A clock for this package's own tests: time passes only when told to. */
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

  /** Timers that have not fired. */
  get pending(): number {
    return this.#timers.length
  }

  /** Lets time pass, firing timers in order; work that they wake up runs in between. */
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

/** Lets everything run that is only waiting for its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}
