/** Runs a limited number of processes at a time; the others wait, and groups of them, such as tenants, take turns. */
import { HelmBusyError } from '../errors.ts'

/** How many may run, and how many may wait. */
export interface SlotLimits {
  readonly maxConcurrent: number
  readonly maxWaiting: number
}

const NO_GROUP = ''

/** One that waits. */
interface Waiter {
  readonly group: string
  readonly start: () => void
}

/**
 * *Guarantees*: while several groups want slots, each gets its turn, however many of the others wait; within a group the
 * order of arrival counts. No group has all slots, unless there is only one;
 * what belongs to no group may have them all.
 *
 * @example
 * const slots = new ProcessSlots({ maxConcurrent: 4, maxWaiting: 1_000 })
 * const outcome = await slots.run(() => runProcess(request), signal, 'tenant-a')
 */
export class ProcessSlots {
  readonly #limits: SlotLimits
  readonly #waiting = new Set<Waiter>()
  /** Of each group; groups without any are left out. */
  readonly #running = new Map<string, number>()
  /** When each group with waiters last got a slot, in turns. */
  readonly #lastTurn = new Map<string, number>()
  #turns = 0
  #total = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  /** Runs `work` when a slot is free for its group. Rejects with the signal's reason if that aborts first. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal, group = NO_GROUP): Promise<T> {
    signal.throwIfAborted()
    if (this.#hasSlot(group)) this.#occupy(group)
    else await this.#turn(group, signal)
    try {
      return await work()
    } finally {
      this.#release(group)
    }
  }

  /** One slot is left for others: what runs may take minutes, and nobody can know who comes next. */
  #hasSlot(group: string): boolean {
    const { maxConcurrent } = this.#limits
    const share = group === NO_GROUP ? maxConcurrent : Math.max(1, maxConcurrent - 1)
    return this.#total < maxConcurrent && (this.#running.get(group) ?? 0) < share
  }

  #occupy(group: string): void {
    this.#total++
    this.#running.set(group, (this.#running.get(group) ?? 0) + 1)
    this.#lastTurn.set(group, this.#turns++)
  }

  #release(group: string): void {
    this.#total--
    const left = (this.#running.get(group) ?? 1) - 1
    if (left > 0) this.#running.set(group, left)
    else this.#running.delete(group)
    this.#handOver()
    this.#forget(group)
  }

  /** The slot is passed to the group that has the fewest, and among these to the one whose turn was longest ago. */
  #handOver(): void {
    let next: Waiter | undefined
    for (const waiter of this.#waiting) {
      if (this.#hasSlot(waiter.group) && (next === undefined || this.#isBefore(waiter.group, next.group))) next = waiter
    }
    if (next === undefined) return
    this.#occupy(next.group)
    next.start()
  }

  #isBefore(one: string, other: string): boolean {
    const difference = (this.#running.get(one) ?? 0) - (this.#running.get(other) ?? 0)
    return difference < 0 || (difference === 0 && (this.#lastTurn.get(one) ?? -1) < (this.#lastTurn.get(other) ?? -1))
  }

  #forget(group: string): void {
    if (this.#running.has(group)) return
    for (const waiter of this.#waiting) if (waiter.group === group) return
    this.#lastTurn.delete(group)
  }

  #turn(group: string, signal: AbortSignal): Promise<void> {
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
        this.#waiting.delete(waiter)
        signal.removeEventListener('abort', giveUp)
      }
      const waiter: Waiter = {
        group,
        start: () => {
          leave()
          resolve()
        },
      }
      const giveUp = () => {
        leave()
        reject(signal.reason)
      }
      this.#waiting.add(waiter)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }
}
