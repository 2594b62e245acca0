/** How many runs go on at the same time: as many as the machine has time for, since runs of processes mostly wait. */
import { sleep } from '@reeve/http'

/** Between two looks at the machine. */
const LOOK_MS = 250

/** How many runs there may be. */
export interface RunSlotsOptions {
  /** That many always run, as far as there is work. */
  readonly min: number
  /** That many run at most. */
  readonly max: number
  /** Whether the machine has time for one more. */
  readonly hasSpareTime: () => boolean
  /** Between the starts of runs beyond the minimum: what a run needs shows only after a moment. @default 250 */
  readonly lookMs?: number
}

/**
 * Places for runs, given in the order in which they are asked for.
 *
 * @example
 * const slots = new RunSlots({ min: 6, max: 20, hasSpareTime: spareTime() })
 * await Promise.all(points.map((point) => slots.run(() => explorer.run(pattern, point))))
 */
export class RunSlots {
  readonly #options: RunSlotsOptions
  readonly #waiting: (() => void)[] = []
  #running = 0
  #isLooking = false

  constructor(options: RunSlotsOptions) {
    this.#options = options
  }

  /** Runs the work when it is its turn. */
  async run<R>(work: () => Promise<R>): Promise<R> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      this.#fill()
    })
    try {
      return await work()
    } finally {
      this.#running -= 1
      this.#fill()
    }
  }

  #fill(): void {
    while (this.#waiting.length > 0 && this.#running < this.#options.min) this.#admit()
    if (this.#waiting.length > 0 && this.#running < this.#options.max) this.#look()
  }

  #admit(): void {
    this.#running += 1
    this.#waiting.shift()?.()
  }

  /** One more at a time, whenever there is spare time after a while. */
  #look(): void {
    if (this.#isLooking) return
    this.#isLooking = true
    sleep(this.#options.lookMs ?? LOOK_MS).then(() => {
      this.#isLooking = false
      if (this.#waiting.length > 0 && this.#running < this.#options.max && this.#options.hasSpareTime()) this.#admit()
      this.#fill()
    })
  }
}
