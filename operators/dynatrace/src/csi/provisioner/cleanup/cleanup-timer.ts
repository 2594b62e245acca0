/** When to clean up. */
import type { Clock } from '@reeve/http'
import { parseDurationMs } from '../../../api/annotation-values.ts'

/** Without a setting. */
export const DEFAULT_CLEANUP_PERIOD_MS = 30 * 60_000

/** Lets work through at most once per period, which begins at the end of the work. The first time is at once. */
export class CleanupTimer {
  readonly #periodMs: number
  readonly #clock: Pick<Clock, 'now'>
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(periodMs: number, clock: Pick<Clock, 'now'>) {
    this.#periodMs = periodMs
    this.#clock = clock
  }

  /** Whether a period has passed. */
  get isDue(): boolean {
    return this.#clock.now() >= this.#lastMs + this.#periodMs
  }

  /** Runs `work` and starts the next period, also if it fails. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      this.#lastMs = this.#clock.now()
    }
  }
}

/** The period of the setting `CLEANUP_PERIOD`; `undefined` if the text is not a duration above zero. */
export function cleanupPeriodMs(text: string | undefined): number | undefined {
  if (!text) return DEFAULT_CLEANUP_PERIOD_MS
  const period = parseDurationMs(text)
  return period === undefined || period <= 0 ? undefined : period
}
