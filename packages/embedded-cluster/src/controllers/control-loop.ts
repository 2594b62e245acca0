/** The level-triggered loop under every controller: keys in, one reconcile per key at a time, retries that end. */
import type { Clock, Timer } from '../clock.ts'
import { StatusError } from '../status-error.ts'

/** Brings the object named by `key` one step closer; answers when to look again even if nothing happens. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<RequeueAfterMs>

/** Milliseconds, or nothing when only an event can make a difference. */
export type RequeueAfterMs = number | undefined

/** Told about work of a controller that failed and will be tried again. */
export type OnError = (controller: string, key: string, error: unknown) => void

/** Options of {@link ControlLoop}. */
export interface ControlLoopOptions {
  readonly clock: Clock
  /** Spreads retries. */
  readonly random: () => number
  /** How many different keys may be reconciled at once. @default 16 */
  readonly concurrency?: number
  /** Told about every failed attempt that will be retried after a delay. */
  readonly onError?: (key: string, error: unknown) => void
  /** Lets the rest of the process run in the middle of a burst. @default never: simulated time needs no air */
  readonly breathe?: () => Promise<void>
}

const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 300_000
/** The view is as fresh as the store, so a conflict is over as soon as the object is read again. */
const IMMEDIATE_RETRIES = 5
/** Reconciles between two breaths: some milliseconds of work. */
const KEYS_PER_BREATH = 64
/** Timers of the machine overflow beyond 24 days and then fire at once. Waking early only means looking again. */
const LONGEST_TIMER_MS = 20 * 24 * 3_600_000

/**
 * *Guarantees*: a key is never reconciled twice at the same time; a key added any number of times before its turn
 * is reconciled once; a key added while it is being reconciled is reconciled again; nothing runs after `stop`
 * resolved.
 *
 * *Errors*: a rejected reconcile is tried again, at once after a lost race, else after a delay that doubles from
 * 0.1 s to 5 min. A refusal because the namespace is being deleted is final: nothing can be made there any more.
 */
export class ControlLoop {
  readonly #reconcile: Reconcile
  readonly #options: ControlLoopOptions
  readonly #concurrency: number
  // A set keeps insertion order: it is the queue and its deduplication in one.
  readonly #queue = new Set<string>()
  readonly #running = new Set<string>()
  readonly #again = new Set<string>()
  readonly #timers = new Map<string, { readonly dueMs: number; readonly timer: Timer }>()
  readonly #failures = new Map<string, number>()
  #abort: AbortController | undefined
  #workers = 0
  #sinceBreath = 0
  #whenIdle: (() => void)[] = []

  constructor(reconcile: Reconcile, options: ControlLoopOptions) {
    this.#reconcile = reconcile
    this.#options = options
    this.#concurrency = options.concurrency ?? 16
  }

  /** True when no key waits for its turn or is being worked on. Keys that wait for time do not count. */
  get isIdle(): boolean {
    return this.#workers === 0
  }

  start(): void {
    this.#abort ??= new AbortController()
  }

  /** Forgets what is queued and resolves when the reconciles under way have returned. */
  async stop(): Promise<void> {
    this.#abort?.abort()
    this.#abort = undefined
    this.#queue.clear()
    this.#again.clear()
    this.#failures.clear()
    for (const { timer } of this.#timers.values()) timer.cancel()
    this.#timers.clear()
    if (this.#workers > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve))
  }

  /** Asks for a reconcile of `key`. Before `start` and after `stop` it does nothing. */
  add(key: string): void {
    if (this.#abort === undefined) return
    if (this.#running.has(key)) {
      this.#again.add(key)
      return
    }
    this.#queue.add(key)
    if (this.#workers < this.#concurrency) {
      this.#workers += 1
      void this.#work()
    }
  }

  /** Asks for a reconcile of `key` after a while; of several such wishes the earliest counts. */
  addAfter(key: string, delayMs: number): void {
    this.#schedule(key, delayMs, this.#abort?.signal)
  }

  /** A worker: never rejects, and counts itself out when the queue is empty. */
  async #work(): Promise<void> {
    // One write often causes several events; let them all arrive before the first reconcile reads.
    await undefined
    for (const key of this.#queue) {
      this.#queue.delete(key)
      this.#running.add(key)
      await this.#attempt(key)
      this.#running.delete(key)
      if (this.#again.delete(key)) this.add(key)
      if (this.#options.breathe !== undefined && ++this.#sinceBreath >= KEYS_PER_BREATH) {
        this.#sinceBreath = 0
        await this.#options.breathe()
      }
    }
    this.#workers -= 1
    if (this.#workers === 0) for (const resolve of this.#whenIdle.splice(0)) resolve()
  }

  async #attempt(key: string): Promise<void> {
    const signal = this.#abort?.signal
    if (signal === undefined) return
    this.#timers.get(key)?.timer.cancel()
    this.#timers.delete(key)
    try {
      const againMs = await this.#reconcile(key, signal)
      this.#failures.delete(key)
      if (againMs !== undefined) this.#schedule(key, againMs, signal)
    } catch (error) {
      if (!signal.aborted) this.#recover(key, error, signal)
    }
  }

  #recover(key: string, error: unknown, signal: AbortSignal): void {
    if (isNamespaceTerminating(error)) {
      this.#failures.delete(key)
      return
    }
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    if (isLostRace(error) && failures <= IMMEDIATE_RETRIES) {
      this.#again.add(key)
      return
    }
    this.#options.onError?.(key, error)
    const delayMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20))
    this.#schedule(key, delayMs * (0.75 + this.#options.random() / 4), signal)
  }

  #schedule(key: string, delayMs: number, signal: AbortSignal | undefined): void {
    if (signal === undefined || signal.aborted) return
    const waitMs = Math.min(LONGEST_TIMER_MS, Math.max(0, delayMs))
    const dueMs = this.#options.clock.now() + waitMs
    const pending = this.#timers.get(key)
    if (pending !== undefined && pending.dueMs <= dueMs) return
    pending?.timer.cancel()
    const timer = this.#options.clock.schedule(waitMs, () => {
      this.#timers.delete(key)
      this.add(key)
    })
    this.#timers.set(key, { dueMs, timer })
  }
}

/** Whether somebody else changed, created or deleted the object first. */
export function isLostRace(error: unknown): boolean {
  return error instanceof StatusError && (error.code === 409 || error.code === 404)
}

/** Whether the object is gone. */
export function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.code === 404
}

/** Whether an object of that name exists. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'AlreadyExists'
}

/** Whether the server refused to create something in a namespace that is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof StatusError) || error.code !== 403) return false
  return error.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') ?? false
}
