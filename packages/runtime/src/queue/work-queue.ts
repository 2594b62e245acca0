/** Keys waiting to be worked on: each at most once, by one worker at a time, the urgent ones first. */
import { type Clock, systemClock } from '@reeve/http'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { type BackoffOptions, exponentialBackoff } from './backoff.ts'
import { type DelayEntry, DelayLine } from './delay-line.ts'
import { Heap, type HeapEntry } from './heap.ts'
import { type QueueMetrics, type QueueSample, queueMetrics } from './queue-metrics.ts'
import { type Reason, ReasonSet } from './reason.ts'
import { TokenBucket } from './token-bucket.ts'
import {
  type AddOptions,
  HEAD_START_MS,
  type Priority,
  QUEUE_DEFAULTS,
  type WorkItem,
  type WorkQueueOptions,
} from './work-item.ts'

/** The pending request of a key: at most one, for the earliest requested time. */
interface Pending<K> {
  readonly state: KeyState<K>
  readonly reasons: ReasonSet
  readonly sequence: number
  dueMs: number
  priority: Priority
  isRetry: boolean
  /** The earliest time that was requested by anything but an echo. */
  newsMs: number | undefined
  /** Requests during a run that may turn out to be its echoes. */
  readonly unclear: (() => boolean)[]
  place:
    | { readonly in: 'ready'; readonly entry: HeapEntry<Pending<K>> }
    | { readonly in: 'delayed'; readonly entry: DelayEntry<Pending<K>> }
    | undefined
}

/** A run during which more events arrive than this is followed by another one, whatever they show. */
const MAX_UNCLEAR = 100

interface KeyState<K> {
  readonly id: unknown
  readonly key: K
  failures: number
  /** Only something new runs it again. */
  hasGivenUp: boolean
  pending: Pending<K> | undefined
  running: { readonly item: WorkItem<K>; readonly sinceMs: number } | undefined
}

/**
 * The queue between events and workers.
 *
 * *Guarantees*: a key is never processed twice concurrently; a key added while it is processed runs again after that; a
 * key added several times runs once, at the earliest of the requested times and with the highest of the
 * priorities; a run satisfies every request made before it began, also those for later: a worker that needs
 * a later run requests it again.
 *
 * @example
 * const queue = new WorkQueue<string>({ name: 'webapp' })
 * queue.add('default/web', { reason: { event: 'modified', kind: 'WebApp' } })
 * for (let item = await queue.take(); item !== undefined; item = await queue.take()) {
 *   try {
 *     await work(item.key)
 *     queue.forget(item.key)
 *   } catch {
 *     queue.retry(item.key)
 *   } finally {
 *     queue.done(item)
 *   }
 * }
 */
export class WorkQueue<K> {
  readonly name: string
  readonly #clock: Clock
  readonly #random: () => number
  readonly #logger: Logger
  readonly #metrics: QueueMetrics
  readonly #identify: (key: K) => unknown
  readonly #backoff: BackoffOptions
  readonly #retryLimit: TokenBucket
  readonly #maxKeys: number

  readonly #states = new Map<unknown, KeyState<K>>()
  readonly #running = new Set<KeyState<K>>()
  readonly #delayed: DelayLine<Pending<K>>
  readonly #ready = new Heap<Pending<K>>((a, b) => {
    const difference = rankOf(a) - rankOf(b)
    return difference === 0 ? a.sequence < b.sequence : difference < 0
  })
  readonly #takers: ((item: WorkItem<K> | undefined) => void)[] = []
  #isStopped = false
  #sequence = 0
  #isFull = false
  #isWaking = false

  constructor(options: WorkQueueOptions<K>) {
    this.name = options.name
    this.#clock = options.clock ?? systemClock
    this.#delayed = new DelayLine(this.#clock, (pending) => this.#settle(pending))
    this.#random = options.random ?? Math.random
    this.#logger = options.logger ?? silentLogger
    this.#metrics = queueMetrics(options.name, options.metrics, () => this.sample())
    this.#identify = options.identify ?? ((key) => key)
    this.#backoff = options.backoff ?? {}
    this.#retryLimit = new TokenBucket(this.#clock.now(), options.retryRate)
    this.#maxKeys = options.maxKeys ?? QUEUE_DEFAULTS.maxKeys
  }

  /** Keys ready and waiting for a worker. */
  get depth(): number {
    return this.#ready.size
  }

  /** Keys that are delayed. */
  get delayed(): number {
    return this.#delayed.size
  }

  /** Keys being worked on. */
  get running(): number {
    return this.#running.size
  }

  /**
   * Requests a run of `key`. Does nothing after the queue was stopped.
   *
   * @returns false when the key was rejected because the queue is stopped or full.
   */
  add(key: K, options: AddOptions = {}): boolean {
    if (this.#isStopped) return false
    const state = this.#stateOf(key)
    if (state === undefined) return false
    this.#request(state, options, false)
    return true
  }

  /**
   * Requests another run after a failure, with the key's backoff and the overall limit.
   *
   * @param options.minDelayMs wait at least this long, such as a server's `Retry-After`. @default 0
   * @returns the delay in milliseconds.
   */
  retry(key: K, options: { readonly reason?: Reason; readonly minDelayMs?: number } = {}): number {
    const { reason = { event: 'retry' }, minDelayMs = 0 } = options
    const state = this.#isStopped ? undefined : this.#stateOf(key)
    if (state === undefined) return 0
    state.failures++
    const delayMs = Math.max(
      exponentialBackoff(state.failures, { ...this.#backoff, random: this.#random }),
      this.#retryLimit.reserve(this.#clock.now()),
      minDelayMs,
    )
    this.#metrics.retried()
    this.#dropEchoes(state)
    this.#request(state, { reason, priority: 'normal', delayMs }, true)
    return delayMs
  }

  /** Requests another run although nothing changes, which echoes do not bring forward. */
  postpone(key: K, options: { readonly reason: Reason; readonly delayMs: number }): void {
    const state = this.#isStopped ? undefined : this.#stateOf(key)
    if (state === undefined) return
    this.#dropEchoes(state)
    this.#request(state, { priority: 'normal', ...options }, true)
  }

  /** Ends the backoff of a key without another run: it waits for something new, which an echo is not. */
  giveUp(key: K): void {
    const state = this.#states.get(this.#identify(key))
    if (state === undefined) return
    state.failures = 0
    state.hasGivenUp = true
    this.#dropEchoes(state)
  }

  /** Ends the backoff of a key: its next failure waits the shortest delay again. */
  forget(key: K): void {
    const state = this.#states.get(this.#identify(key))
    if (state === undefined) return
    state.failures = 0
    state.hasGivenUp = false
    this.#discardIdle(state)
  }

  /** Failures in a row of a key. */
  failures(key: K): number {
    return this.#states.get(this.#identify(key))?.failures ?? 0
  }

  /** The next key to work on, as soon as one is ready; `undefined` once the queue is stopped. */
  async take(): Promise<WorkItem<K> | undefined> {
    if (this.#isStopped) return undefined
    return this.#start() ?? new Promise((resolve) => this.#takers.push(resolve))
  }

  /** Completes an item, whatever the outcome. A second call for the same item does nothing. */
  done(item: WorkItem<K>): void {
    const state = this.#states.get(this.#identify(item.key))
    if (state?.running?.item !== item) return
    this.#metrics.finished((this.#clock.now() - state.running.sinceMs) / 1_000)
    state.running = undefined
    this.#running.delete(state)
    if (state.pending !== undefined) this.#settle(state.pending)
    else this.#discardIdle(state)
  }

  /** Rejects further keys, drops waiting keys, ends every `take`. Items in progress may still be completed. */
  stop(): void {
    this.#isStopped = true
    for (const { state } of this.#delayed.clear()) state.pending = undefined
    for (const pending of this.#ready.values()) pending.state.pending = undefined
    this.#ready.clear()
    for (const state of [...this.#states.values()]) {
      state.pending = undefined
      state.failures = 0
      state.hasGivenUp = false
      this.#discardIdle(state)
    }
    for (const taker of this.#takers.splice(0)) taker(undefined)
  }

  /** What the metrics show. */
  sample(): QueueSample {
    const now = this.#clock.now()
    let unfinishedSeconds = 0
    let longestRunningSeconds = 0
    for (const { running } of this.#running) {
      const seconds = running === undefined ? 0 : (now - running.sinceMs) / 1_000
      unfinishedSeconds += seconds
      longestRunningSeconds = Math.max(longestRunningSeconds, seconds)
    }
    return { depth: this.depth, unfinishedSeconds, longestRunningSeconds }
  }

  #stateOf(key: K): KeyState<K> | undefined {
    const id = this.#identify(key)
    const known = this.#states.get(id)
    if (known !== undefined) return known
    if (this.#states.size >= this.#maxKeys) {
      this.#metrics.rejected()
      if (!this.#isFull) this.#logger.error({ queue: this.name, maxKeys: this.#maxKeys }, 'work queue is full')
      this.#isFull = true
      return undefined
    }
    this.#isFull = false
    const state: KeyState<K> = { id, key, failures: 0, hasGivenUp: false, pending: undefined, running: undefined }
    this.#states.set(id, state)
    return state
  }

  #request(state: KeyState<K>, options: AddOptions, isRetry: boolean): void {
    const { reason, priority = 'high', delayMs = 0, isEcho } = options
    const isKnownEcho = isEcho?.() ?? false
    if (isKnownEcho && state.hasGivenUp && state.running === undefined) return
    const respectBackoff = isKnownEcho || (options.respectBackoff ?? false)
    const dueMs = this.#clock.now() + (delayMs > 0 ? delayMs : 0)
    const pending = state.pending ?? {
      state,
      reasons: new ReasonSet(QUEUE_DEFAULTS.maxReasons),
      sequence: this.#sequence++,
      dueMs: Number.POSITIVE_INFINITY,
      priority,
      isRetry,
      newsMs: undefined,
      unclear: [],
      place: undefined,
    }
    if (!isKnownEcho) {
      const isUnclear = isEcho !== undefined && state.running !== undefined && pending.unclear.length < MAX_UNCLEAR
      if (isUnclear) pending.unclear.push(isEcho)
      else pending.newsMs = Math.min(pending.newsMs ?? dueMs, dueMs)
    }
    if (reason !== undefined) pending.reasons.add(reason)
    const keepsWaiting = respectBackoff && pending.isRetry && pending.dueMs > this.#clock.now()
    const isSooner = !keepsWaiting && dueMs < pending.dueMs
    const isHigher = HEAD_START_MS[priority] > HEAD_START_MS[pending.priority]
    const isNew = state.pending === undefined
    if (!isNew && !isSooner && !isHigher) return
    const wasReady = pending.place?.in === 'ready'
    this.#unplace(pending)
    if (isSooner) {
      pending.dueMs = dueMs
      pending.isRetry = isRetry
    }
    if (isHigher) pending.priority = priority
    state.pending = pending
    if (state.running === undefined) this.#settle(pending, wasReady)
  }

  /** After a run: what arrived during it and only shows its own writes is no reason for another one. */
  #dropEchoes(state: KeyState<K>): void {
    const { pending, running } = state
    if (running === undefined || pending === undefined || hasNews(pending)) return
    state.pending = undefined
  }

  /** Files a request by its due time, and wakes a waiting worker. */
  #settle(pending: Pending<K>, wasReady = false): void {
    if (pending.dueMs > this.#clock.now()) {
      pending.place = { in: 'delayed', entry: this.#delayed.add(pending, pending.dueMs) }
      return
    }
    pending.place = { in: 'ready', entry: this.#ready.push(pending) }
    if (!wasReady) this.#metrics.added()
    this.#wakeTakers()
  }

  /** After the current burst of adds, so that several events for one key cause one run. */
  #wakeTakers(): void {
    if (this.#isWaking || this.#takers.length === 0) return
    this.#isWaking = true
    queueMicrotask(() => {
      this.#isWaking = false
      while (this.#ready.size > 0) {
        const taker = this.#takers.shift()
        if (taker === undefined) return
        taker(this.#start())
      }
    })
  }

  #unplace(pending: Pending<K>): void {
    const { place } = pending
    if (place?.in === 'ready') this.#ready.remove(place.entry)
    else if (place?.in === 'delayed') this.#delayed.remove(place.entry)
    pending.place = undefined
  }

  #start(): WorkItem<K> | undefined {
    const pending = this.#ready.pop()
    if (pending === undefined) return undefined
    const { state, reasons } = pending
    const now = this.#clock.now()
    const waitedMs = now - pending.dueMs
    const item: WorkItem<K> = {
      key: state.key,
      reasons: reasons.reasons,
      omittedReasons: reasons.omitted,
      isEcho: !hasNews(pending, now),
      failures: state.failures,
      waitedMs,
    }
    state.pending = undefined
    state.hasGivenUp = false
    state.running = { item, sinceMs: now }
    this.#running.add(state)
    this.#metrics.taken(waitedMs / 1_000)
    return item
  }

  /** A key without work, request or failure is forgotten, so that the queue does not grow. */
  #discardIdle(state: KeyState<K>): void {
    const { pending, running, failures, hasGivenUp } = state
    if (pending === undefined && running === undefined && failures === 0 && !hasGivenUp) {
      this.#states.delete(state.id)
    }
  }
}

/** Whether anything but echoes requested a run until then. */
function hasNews({ newsMs, unclear }: Pending<unknown>, untilMs = Number.POSITIVE_INFINITY): boolean {
  return (newsMs !== undefined && newsMs <= untilMs) || unclear.some((isEcho) => !isEcho())
}

function rankOf(pending: { readonly dueMs: number; readonly priority: Priority }): number {
  return pending.dueMs - HEAD_START_MS[pending.priority]
}
