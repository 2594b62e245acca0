/** A clock that moves only when a test advances it: hours of virtual time pass in milliseconds, deterministically. */
import { setImmediate } from 'node:timers/promises'
import type { Clock, Timer } from '../clock.ts'

/** The default start of a simulated clock. */
const DEFAULT_START_MS = Date.UTC(2030, 0, 1)

/** More timers than this at one and the same instant can only be a loop that re-arms itself without delay. */
const MAX_TIMERS_AT_ONE_INSTANT = 100_000

interface PendingTimer {
  readonly dueMs: number
  /** Timers due at the same instant fire in the order they were scheduled. */
  readonly sequence: number
  readonly action: () => void
}

/** Options of {@link SimulatedClock}. */
export interface SimulatedClockOptions {
  /** The first value of `now()`, in milliseconds since the epoch. @default 2030-01-01T00:00:00Z */
  readonly startMs?: number
  /**
   * Waits until everything that needs no time has finished. The default lets all promises and
   * `nextTick` callbacks run, which is exact for code that stays inside the process. Replace it where a test
   * crosses a socket or a thread.
   * @default one turn of the event loop
   */
  readonly settle?: () => Promise<void>
}

/** How long {@link SimulatedClock.runUntil} and its relatives may run. */
export interface SimulatedRunOptions {
  /** Virtual milliseconds after which to fail. @default 3_600_000 */
  readonly maxMs?: number
}

/** The simulated time given to a run was used up, or time could not move at all. */
export class SimulatedTimeError extends Error {
  override readonly name = 'SimulatedTimeError'
  readonly code = 'SIMULATED_TIME'
}

/**
 * A {@link Clock} for tests.
 *
 * *Guarantees*: timers fire in the order of their due time, then of their scheduling; between two timers all
 * promises settle; `now()` is exactly the due time while a timer's action runs; nothing depends on real time.
 *
 * *Assumption*: one run at a time. Starting a second `advance` before the first resolved is refused, because
 * the order of their timers would be undefined.
 *
 * @example
 * const clock = new SimulatedClock()
 * clock.schedule(60_000, () => console.log('a minute later'))
 * await clock.advance(60_000)
 */
export class SimulatedClock implements Clock {
  /** In the order in which they fire. */
  readonly #timers: PendingTimer[] = []
  readonly #settle: () => Promise<void>
  #nowMs: number
  #skippedMs = 0
  #sequence = 0
  #running = false

  constructor(options: SimulatedClockOptions = {}) {
    this.#nowMs = options.startMs ?? DEFAULT_START_MS
    this.#settle = options.settle ?? (() => setImmediate())
  }

  now(): number {
    return this.#nowMs + this.#skippedMs
  }

  schedule(delayMs: number, action: () => void): Timer {
    // Like setTimeout: what is not a positive number means as soon as possible.
    const delay = delayMs > 0 ? delayMs : 0
    const timer = { dueMs: this.#nowMs + delay, sequence: this.#sequence++, action }
    this.#timers.splice(this.#indexOf(timer), 0, timer)
    return {
      cancel: () => {
        const index = this.#indexOf(timer)
        if (this.#timers[index] === timer) this.#timers.splice(index, 1)
      },
    }
  }

  /** How many timers wait to fire. A leak of timers shows here. */
  get pendingTimers(): number {
    return this.#timers.length
  }

  /** When the next timer is due, in milliseconds since the epoch. */
  get nextTimerMs(): number | undefined {
    const next = this.#timers[0]
    return next && next.dueMs + this.#skippedMs
  }

  /** Sets the time ahead, as a corrected wall clock does: timers wait as long as they would have without. */
  skip(ms: number): void {
    this.#skippedMs += ms
  }

  /** Runs everything that needs no time. */
  async settle(): Promise<void> {
    await this.#settle()
  }

  /** Moves time forward by `ms`, running every timer that becomes due meanwhile. */
  async advance(ms: number): Promise<void> {
    await this.#exclusively(async () => {
      const untilMs = this.#nowMs + ms
      await this.#runTimers(untilMs, () => false)
      this.#nowMs = untilMs
      await this.#settle()
    })
  }

  /**
   * Jumps from timer to timer until `predicate` holds.
   *
   * *Errors*: {@link SimulatedTimeError} when it does not hold within `maxMs`, or no timer is left that could
   * change anything.
   *
   * @example
   * await clock.runUntil(() => informer.isSynced, { maxMs: 60_000 })
   */
  async runUntil(predicate: () => boolean | Promise<boolean>, options: SimulatedRunOptions = {}): Promise<void> {
    const { maxMs = 3_600_000 } = options
    await this.#exclusively(async () => {
      const startMs = this.#nowMs
      const reached = await this.#runTimers(startMs + maxMs, predicate)
      if (reached) return
      const left = this.#timers.length
      throw new SimulatedTimeError(
        left === 0
          ? `the condition does not hold after ${this.#nowMs - startMs} ms and no timer is left that could change it`
          : `the condition does not hold within ${maxMs} simulated ms (${left} timers pending)`,
      )
    })
  }

  /**
   * Runs timers until none is left. Only for code that settles: periodic code never does.
   *
   * *Errors*: {@link SimulatedTimeError} when timers remain after `maxMs`.
   */
  async runUntilIdle(options: SimulatedRunOptions = {}): Promise<void> {
    await this.runUntil(() => this.#timers.length === 0, options)
  }

  /**
   * Moves time until `promise` settles and returns its outcome.
   *
   * @example
   * await clock.runToCompletion(manager.stop())
   */
  async runToCompletion<T>(promise: Promise<T>, options: SimulatedRunOptions = {}): Promise<T> {
    let settled = false
    const markSettled = () => {
      settled = true
    }
    promise.then(markSettled, markSettled)
    await this.runUntil(() => settled, options)
    return promise
  }

  /** True when `predicate` held, false when no timer up to `untilMs` is left. */
  async #runTimers(untilMs: number, predicate: () => boolean | Promise<boolean>): Promise<boolean> {
    let firedAtThisInstant = 0
    await this.#settle()
    for (;;) {
      if (await predicate()) return true
      const next = this.#timers[0]
      if (next === undefined || next.dueMs > untilMs) return false
      firedAtThisInstant = next.dueMs > this.#nowMs ? 1 : firedAtThisInstant + 1
      if (firedAtThisInstant > MAX_TIMERS_AT_ONE_INSTANT) {
        throw new SimulatedTimeError('time stands still: a timer re-arms itself without delay')
      }
      this.#timers.shift()
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      next.action()
      await this.#settle()
    }
  }

  /** Where a timer is, or belongs. */
  #indexOf({ dueMs, sequence }: PendingTimer): number {
    let start = 0
    let end = this.#timers.length
    while (start < end) {
      const middle = (start + end) >>> 1
      const other = this.#timers[middle]
      const isBefore = other !== undefined && (other.dueMs === dueMs ? other.sequence < sequence : other.dueMs < dueMs)
      if (isBefore) start = middle + 1
      else end = middle
    }
    return start
  }

  async #exclusively(run: () => Promise<void>): Promise<void> {
    if (this.#running) {
      throw new SimulatedTimeError('the simulated clock is already being advanced: await the earlier call first')
    }
    this.#running = true
    try {
      await run()
    } finally {
      this.#running = false
    }
  }
}
