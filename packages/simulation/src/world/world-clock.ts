/** The time of a world: simulated, or real for operators that run in processes of their own. */
import { type Clock, sleep, systemClock, type Timer, untilAborted } from '@reeve/http'

/** A clock that a run lets pass. */
export interface WorldClock extends Clock {
  /** Lets time pass. */
  advance(ms: number): Promise<void>
  /** Lets time pass until the promise settles. */
  runToCompletion<T>(promise: Promise<T>): Promise<T>
}

/**
 * Real time, told in a faster measure: faults and waits that take a minute in a simulated world take a few seconds here.
 * A process cannot be hurried; {@link HurriedClock.ofReal} says how long something of its own takes on this clock.
 */
export class HurriedClock implements WorldClock {
  readonly #speed: number
  readonly #startMs: number
  readonly #signal: AbortSignal | undefined

  /**
   * @param speed milliseconds of this clock in one of real time
   * @param signal whoever lets time pass fails with its reason from then on
   */
  constructor(speed: number, signal?: AbortSignal) {
    this.#speed = speed
    this.#signal = signal
    this.#startMs = systemClock.now()
  }

  now(): number {
    return this.#startMs + (systemClock.now() - this.#startMs) * this.#speed
  }

  schedule(delayMs: number, action: () => void): Timer {
    return systemClock.schedule(Math.max(0, delayMs) / this.#speed, action)
  }

  advance(ms: number): Promise<void> {
    return sleep(ms / this.#speed, this.#signal && { signal: this.#signal })
  }

  runToCompletion<T>(promise: Promise<T>): Promise<T> {
    return untilAborted(promise, this.#signal)
  }
}
