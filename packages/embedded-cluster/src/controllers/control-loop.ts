/**
 * The level-triggered loop of every controller: a queue of keys, one reconcile per key at a time, retries with backoff.
 */
import type { Clock, Timer } from '../clock.ts'
import { StatusError } from '../status-error.ts'

/**
 * Brings the object named by `key` one step closer to the desired state; returns when to reconcile again without an
 * event.
 */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<RequeueAfterMs>

/** Milliseconds, or `undefined` when only an event requires another reconcile. */
export type RequeueAfterMs = number | undefined

/** Called when work of a controller failed and will be retried. */
export type OnError = (controller: string, key: string, error: unknown) => void

/** Options of {@link ControlLoop}. */
export interface ControlLoopOptions {
  readonly clock: Clock
  /** Adds jitter to retries. */
  readonly random: () => number
  /** The number of keys that may be reconciled concurrently. @default 16 */
  readonly concurrency?: number
  /** Called for every failed attempt that is retried after a delay. */
  readonly onError?: (key: string, error: unknown) => void
  /** Yields to the rest of the process during a burst of reconciles. @default never, as with a simulated clock */
  readonly yieldToProcess?: () => Promise<void>
}

const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 300_000
/** Reads are as fresh as the store, so a conflict is resolved as soon as the object is read again. */
const IMMEDIATE_RETRIES = 5
/** Reconciles between two yields: some milliseconds of work. */
const RECONCILES_PER_YIELD = 64
/** Node's timers overflow beyond 24 days and then fire immediately. Waking up early only costs a reconcile. */
const LONGEST_TIMER_MS = 20 * 24 * 3_600_000

/**
 * *Guarantees*: a key is never reconciled twice at the same time; a key added any number of times while it is queued is
 * reconciled once; a key added while it is being reconciled is reconciled again; nothing runs after `stop` resolved.
 *
 * *Errors*: a rejected reconcile is retried, immediately after a conflict, otherwise after a delay that doubles from
 * 0.1 s to 5 min. If the namespace is being deleted, there is no retry, because nothing can be created in it.
 */
export class ControlLoop {
  readonly #reconcile: Reconcile
  readonly #options: ControlLoopOptions
  readonly #concurrency: number
  // A set keeps insertion order: it is a queue without duplicates.
  readonly #queue = new Set<string>()
  readonly #running = new Set<string>()
  readonly #again = new Set<string>()
  readonly #timers = new Map<string, { readonly dueMs: number; readonly timer: Timer }>()
  readonly #failures = new Map<string, number>()
  #abort: AbortController | undefined
  #workers = 0
  #sinceYield = 0
  #whenIdle: (() => void)[] = []

  constructor(reconcile: Reconcile, options: ControlLoopOptions) {
    this.#reconcile = reconcile
    this.#options = options
    this.#concurrency = options.concurrency ?? 16
  }

  /** True when no key is queued or being reconciled. Keys that wait for a timer do not count. */
  get isIdle(): boolean {
    return this.#workers === 0
  }

  start(): void {
    this.#abort ??= new AbortController()
  }

  /** Drops the queue and resolves when running reconciles have returned. */
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

  /** Queues `key`. Does nothing before `start` and after `stop`. */
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

  /** Queues `key` after a delay; of several delays the earliest counts. */
  addAfter(key: string, delayMs: number): void {
    this.#schedule(key, delayMs, this.#abort?.signal)
  }

  /** A worker: never rejects, and ends when the queue is empty. */
  async #work(): Promise<void> {
    // One write often causes several events; let all of them arrive before the first reconcile.
    await undefined
    for (const key of this.#queue) {
      this.#queue.delete(key)
      this.#running.add(key)
      await this.#attempt(key)
      this.#running.delete(key)
      if (this.#again.delete(key)) this.add(key)
      if (this.#options.yieldToProcess !== undefined && ++this.#sinceYield >= RECONCILES_PER_YIELD) {
        this.#sinceYield = 0
        await this.#options.yieldToProcess()
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
      const requeueAfterMs = await this.#reconcile(key, signal)
      this.#failures.delete(key)
      if (requeueAfterMs !== undefined) this.#schedule(key, requeueAfterMs, signal)
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

/** Whether another client changed, created or deleted the object first. */
export function isLostRace(error: unknown): boolean {
  return error instanceof StatusError && (error.code === 409 || error.code === 404)
}

/** Whether the object does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.code === 404
}

/** Whether an object of that name exists. */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'AlreadyExists'
}

/** Whether creation was rejected because the namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!(error instanceof StatusError) || error.code !== 403) return false
  return error.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') ?? false
}
