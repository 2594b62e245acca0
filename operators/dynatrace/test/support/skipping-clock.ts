/** A simulated clock that can be set ahead. */
import { SimulatedClock } from '@reeve/runtime/testing'

/** Time that is skipped is noticed by whoever looks at the clock; timers wait as long as they would have without. */
export class SkippingClock extends SimulatedClock {
  #skippedMs = 0

  override now(): number {
    return super.now() + this.#skippedMs
  }

  skip(durationMs: number): void {
    this.#skippedMs += durationMs
  }

  /** Jumps from timer to timer until the condition holds, which may let time pass itself. */
  async until(what: string, condition: () => boolean | Promise<boolean>, look?: () => Promise<void>): Promise<void> {
    const deadlineMs = super.now() + PATIENCE_MS
    while (!(await condition())) {
      await look?.()
      const { nextTimerMs = Number.POSITIVE_INFINITY } = this
      if (nextTimerMs > deadlineMs) throw new Error(`timed out waiting for ${what}`)
      await this.advance(nextTimerMs - super.now())
    }
  }
}

/** Longer than every back-off. */
const PATIENCE_MS = 60 * 60_000
