/** Delayed values behind a single timer. */
import type { Clock, Timer } from '@reeve/http'
import { Heap, type HeapEntry } from './heap.ts'

/** The longest delay a timer of the platform can have; a longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1

interface Waiting<T> {
  readonly value: T
  readonly dueMs: number
  /** What is due at the same time comes out in insertion order. */
  readonly sequence: number
}

/** A value in a {@link DelayLine}: keep it to take the value out early. */
export type DelayEntry<T> = HeapEntry<Waiting<T>>

/**
 * *Guarantees*: each value comes out once, not before it is due and as soon as the clock allows, also after months; no
 * timer is pending while nothing waits.
 */
export class DelayLine<T> {
  readonly #clock: Clock
  readonly #onDue: (value: T) => void
  readonly #waiting = new Heap<Waiting<T>>((a, b) =>
    a.dueMs === b.dueMs ? a.sequence < b.sequence : a.dueMs < b.dueMs,
  )
  #timer: { readonly dueMs: number; readonly timer: Timer } | undefined
  #sequence = 0

  /** @param onDue called with each value when it is due; may add further ones */
  constructor(clock: Clock, onDue: (value: T) => void) {
    this.#clock = clock
    this.#onDue = onDue
  }

  get size(): number {
    return this.#waiting.size
  }

  add(value: T, dueMs: number): DelayEntry<T> {
    const entry = this.#waiting.push({ value, dueMs, sequence: this.#sequence++ })
    this.#arm()
    return entry
  }

  /** Removes a value before it is due; does nothing if it already came out. */
  remove(entry: DelayEntry<T>): void {
    this.#waiting.remove(entry)
    if (this.#waiting.size === 0) this.#disarm()
  }

  /** Drops everything and returns what was dropped. */
  clear(): readonly T[] {
    const dropped = [...this.#waiting.values()].map(({ value }) => value)
    this.#waiting.clear()
    this.#disarm()
    return dropped
  }

  #arm(): void {
    const next = this.#waiting.peek()
    if (next === undefined) return
    const now = this.#clock.now()
    // An overdue timer that has not fired: the clock jumped, as after a machine was suspended.
    if (this.#timer !== undefined && this.#timer.dueMs <= next.dueMs && this.#timer.dueMs > now) return
    this.#disarm()
    const delayMs = Math.max(0, Math.min(next.dueMs - now, MAX_TIMER_MS))
    const timer = this.#clock.schedule(delayMs, () => {
      this.#timer = undefined
      this.#release()
    })
    this.#timer = { dueMs: next.dueMs, timer }
  }

  #disarm(): void {
    this.#timer?.timer.cancel()
    this.#timer = undefined
  }

  #release(): void {
    const now = this.#clock.now()
    for (let next = this.#waiting.peek(); next !== undefined && next.dueMs <= now; next = this.#waiting.peek()) {
      this.#waiting.pop()
      this.#onDue(next.value)
    }
    this.#arm()
  }
}
