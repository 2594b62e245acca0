/** The time of a world: simulated, or real for operators that run in processes of their own. */
import { type Clock, sleep, systemClock, type Timer } from '@reeve/kube'

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

  /** @param speed milliseconds of this clock in one of real time */
  constructor(speed: number) {
    this.#speed = speed
    this.#startMs = systemClock.now()
  }

  now(): number {
    return this.#startMs + (systemClock.now() - this.#startMs) * this.#speed
  }

  schedule(delayMs: number, action: () => void): Timer {
    return systemClock.schedule(Math.max(0, delayMs) / this.#speed, action)
  }

  advance(ms: number): Promise<void> {
    return sleep(ms / this.#speed)
  }

  runToCompletion<T>(promise: Promise<T>): Promise<T> {
    return promise
  }
}
