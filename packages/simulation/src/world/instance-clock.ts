/** The clock of one instance of an operator: when the instance is killed, none of its timers fires anymore. */
import { AsyncResource } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import type { Clock, Timer } from '@reeve/http'

interface PendingTimer extends Timer {
  readonly dueMs: number
  readonly action: () => void
}

/** What is left of a dead instance ends with its deadlines; more timers than this are a loop that never ends. */
const MAX_LAST_TIMERS = 1_000

/** A clock that can be stopped while the world's clock continues. */
export class InstanceClock implements Clock {
  readonly #clock: Clock
  readonly #onTimer: () => void
  readonly #enter: (action: () => void) => void
  readonly #timers = new Set<PendingTimer>()
  /** When it was stopped. */
  #stoppedMs: number | undefined

  /**
   * @param onTimer called before a timer's action
   * @param enter runs an action in the context of the instance: the code that moves the clock has another one
   */
  constructor(
    clock: Clock,
    onTimer: () => void = () => undefined,
    enter: (action: () => void) => void = (action) => action(),
  ) {
    this.#clock = clock
    this.#onTimer = onTimer
    this.#enter = enter
  }

  now(): number {
    return this.#stoppedMs ?? this.#clock.now()
  }

  schedule(delayMs: number, action: () => void): Timer {
    const dueMs = this.now() + Math.max(0, delayMs)
    // As with the timers of Node, an action runs in the asynchronous context of the code that scheduled it. Binding
    // a function to it costs some forty times as much, and every request has timers.
    const context = new AsyncResource('Timer')
    const fire = () =>
      context.runInAsyncScope(() => {
        this.#timers.delete(pending)
        if (this.#stoppedMs === undefined) this.#onTimer()
        this.#enter(action)
      })
    const running = this.#stoppedMs === undefined ? this.#clock.schedule(delayMs, fire) : undefined
    const cancel = () => {
      running?.cancel()
      this.#timers.delete(pending)
    }
    const pending: PendingTimer = { dueMs, action: fire, cancel }
    this.#timers.add(pending)
    return pending
  }

  /** Stands still from now on; timers are accepted and wait. */
  stop(): void {
    if (this.#stoppedMs !== undefined) return
    this.#stoppedMs = this.#clock.now()
    const waiting = [...this.#timers]
    for (const timer of waiting) timer.cancel()
    for (const timer of waiting) this.#timers.add(timer)
  }

  /**
   * Fires all timers of a stopped clock, one after the other, so that nothing waits anymore. Only for
   * an instance that can no longer act.
   */
  async runOut(): Promise<void> {
    for (let fired = 0; fired < MAX_LAST_TIMERS; fired++) {
      await setImmediate()
      const next = earliest(this.#timers)
      if (next === undefined) return
      this.#stoppedMs = Math.max(this.now(), next.dueMs)
      next.action()
    }
  }
}

function earliest(timers: Iterable<PendingTimer>): PendingTimer | undefined {
  let first: PendingTimer | undefined
  for (const timer of timers) if (first === undefined || timer.dueMs < first.dueMs) first = timer
  return first
}
