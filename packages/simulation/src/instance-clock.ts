/** The clock of one instance of an operator: when the instance is killed, none of its timers ever fires. */
import type { Clock, Timer } from '@reeve/kube'

/** A clock that can be stopped for good while the world's clock goes on. */
export class InstanceClock implements Clock {
  readonly #clock: Clock
  readonly #timers = new Set<Timer>()
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  schedule(delayMs: number, action: () => void): Timer {
    if (this.#isStopped) return { cancel: () => undefined }
    const timer = this.#clock.schedule(delayMs, () => {
      this.#timers.delete(timer)
      action()
    })
    this.#timers.add(timer)
    return {
      cancel: () => {
        timer.cancel()
        this.#timers.delete(timer)
      },
    }
  }

  /** Cancels everything; later timers are accepted and never fire. */
  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }
}
