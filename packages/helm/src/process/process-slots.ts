/** Runs a limited number of processes at a time; the others wait in order of arrival. */
import { HelmBusyError } from '../errors.ts'

/** How many may run, and how many may wait. */
export interface SlotLimits {
  readonly maxConcurrent: number
  readonly maxWaiting: number
}

/**
 * @example
 * const slots = new ProcessSlots({ maxConcurrent: 4, maxWaiting: 1_000 })
 * const outcome = await slots.run(() => runProcess(request), signal)
 */
export class ProcessSlots {
  readonly #limits: SlotLimits
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Runs `work` when a slot is free. Rejects with the signal's reason if that aborts first. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    if (this.#running < this.#limits.maxConcurrent) this.#running++
    else await this.#turn(signal)
    try {
      return await work()
    } finally {
      this.#handOver()
    }
  }

  /** The slot is passed directly to the next in line. */
  #handOver(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#running--
    else next()
  }

  #turn(signal: AbortSignal): Promise<void> {
    const { maxWaiting } = this.#limits
    if (this.#waiting.size >= maxWaiting) {
      return Promise.reject(
        new HelmBusyError(
          `${maxWaiting} helm commands are waiting already: raise maxConcurrent, or send fewer commands`,
        ),
      )
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(start)
        signal.removeEventListener('abort', giveUp)
      }
      const start = () => {
        leave()
        resolve()
      }
      const giveUp = () => {
        leave()
        reject(signal.reason)
      }
      this.#waiting.add(start)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }
}
