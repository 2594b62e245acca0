/**
 * Keeps a store equal to the server: list everything, watch from there, resume after every interruption, list again
 * when the server no longer remembers. Ends only on abort.
 */
import {
  formatKey,
  isApiError,
  isConnectionError,
  isDeadlineExceeded,
  isExpired,
  isInvalid,
  isNotFound,
  isUnauthorized,
  type KubeObject,
  type Stored,
  sleep,
  type WatchEvent,
} from '@reeve/kube'
import { CACHE_DEFAULTS } from '../defaults.ts'
import type { Logger } from '../logging/logger.ts'
import { exponentialBackoff } from '../queue/backoff.ts'
import { isNewer, isOrdered } from '../resource-version.ts'
import { ListTimeoutError, StaleListError, StreamingUnavailableError, WatchSilentError } from './cache-error.ts'
import { CollectionSource, type CollectionSourceOptions, type WatchStart } from './collection-source.ts'
import type { InformerFailure, InformerHealth, InformerState } from './informer-health.ts'
import type { InformerMetrics } from './informer-metrics.ts'
import { resourceName } from './informer-options.ts'
import type { Change, InformerStore } from './informer-store.ts'

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end'

/** Known after the first rejection, and shared by all informers of a cache: the server is the same. */
export interface StreamingSupport {
  isOffered: boolean
}

/** What a {@link Reflector} works with. */
export interface ReflectorOptions<T extends KubeObject> extends CollectionSourceOptions<T> {
  /** A kind that is not served is an empty collection. */
  readonly mayBeMissing: boolean
  readonly store: InformerStore<T>
  /** Reduces and freezes an object before it is stored. */
  readonly prepare: (object: Stored<T>) => Stored<T>
  /** Called with every change, in order; must not throw. */
  readonly onChanges: (changes: readonly Change<T>[], isInitial: boolean) => void
  /** Called once, after the changes of the first complete state. */
  readonly onSynced: () => void
  /** See {@link CacheOptions.silenceMs}. */
  readonly silenceMs: number
  readonly logger: Logger
  readonly metrics: InformerMetrics
  readonly streaming: StreamingSupport
}

/**
 * The loop behind an informer.
 *
 * *Guarantees*: never ends before its signal aborts and then promptly; every failure is logged, counted and visible
 * in {@link Reflector.health}; the store only ever moves forward in time, unless the server itself was restored from
 * a backup.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #source: CollectionSource<T>
  readonly #resource: string
  readonly #logger: Logger
  #state: InformerState = 'waiting'
  #stateSinceMs: number
  #isSynced = false
  #mustList = true
  /** How long this informer does not use streaming after it failed. */
  #skipsStreaming: 'no' | 'once' | 'always' = 'no'
  #failures = 0
  #staleLists = 0
  /** Lists in a row that found the kind missing. */
  #missingLists = 0
  #failingSinceMs: number | undefined
  #lastFailure: InformerHealth['lastFailure']
  #lastContactMs: number | undefined
  #lists = 0
  #watches = 0

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#source = new CollectionSource(options)
    this.#resource = resourceName(options.resource)
    this.#logger = options.logger
    this.#stateSinceMs = options.clock.now()
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  /** False while the kind is known to be missing. */
  get isServed(): boolean {
    return this.#missingLists === 0
  }

  /** Runs until `signal` aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      const delayMs = await this.#turn(signal)
      if (delayMs === 0 || signal.aborted) continue
      if (this.#state !== 'missing') this.#enter('backing-off')
      await sleep(delayMs, { clock, signal }).catch(() => undefined) // aborted: the loop's condition ends it
    }
    this.#enter('stopped')
  }

  health(): InformerHealth {
    const { store, clock } = this.#options
    const failingForMs = this.#failingSinceMs === undefined ? 0 : clock.now() - this.#failingSinceMs
    return {
      resource: this.#resource,
      description: this.#source.description,
      state: this.#state,
      stateSinceMs: this.#stateSinceMs,
      isSynced: this.#isSynced,
      isHealthy: this.#isSynced && this.#state !== 'stopped' && failingForMs < CACHE_DEFAULTS.unhealthyAfterMs,
      objects: store.view.size,
      ownWrites: store.ownWrites,
      resourceVersion: store.seenVersion,
      lastContactMs: this.#lastContactMs,
      failingSinceMs: this.#failingSinceMs,
      failures: this.#failures,
      lastFailure: this.#lastFailure,
      lists: this.#lists,
      watches: this.#watches,
    }
  }

  /** One list or one watch; returns how long to wait before the next. */
  async #turn(signal: AbortSignal): Promise<number> {
    const { clock } = this.#options
    const startedMs = clock.now()
    try {
      if (!this.#mustList) {
        this.#enter('watching')
        // A response proves nothing about an internal failure.
        const isOurs = this.#lastFailure?.reason === 'internal'
        if (this.#failingSinceMs !== undefined && !isOurs) await this.#probe(signal)
        const heard = await this.#watch(signal)
        // A watch may end at any time, but one that ends immediately without an event would cause a tight loop.
        if (heard > 0 || clock.now() - startedMs >= CACHE_DEFAULTS.minWatchMs) {
          this.#failures = 0
          return 0
        }
        return this.#fail('closed', new Error('the server ended the watch immediately'))
      }
      if (this.#options.streaming.isOffered && this.#skipsStreaming === 'no') await this.#stream(signal)
      else await this.#list(signal)
      return 0
    } catch (error) {
      if (signal.aborted) return 0
      if (this.#mustList && this.#options.mayBeMissing && isNotFound(error)) return this.#miss(error)
      if (error instanceof StreamingUnavailableError) {
        this.#logger.debug({ reason: reasonOf(error.cause) }, 'streaming lists are not available, listing in pages')
        return 0
      }
      return this.#fail(this.#classify(error), error)
    }
  }

  /**
   * The kind is not served: an empty collection. One that has objects must be missing several times, because one of
   * several API servers may be late to serve it. Returns when to list again.
   */
  #miss(error: unknown): number {
    const { store } = this.#options
    this.#missingLists++
    if (store.view.size > 0 && this.#missingLists < CACHE_DEFAULTS.maxMissingLists) return this.#fail('refused', error)
    if (this.#state !== 'missing' && this.#missingLists === 1) this.#logger.info({}, 'the kind is not served, waiting')
    this.#failures = 0
    this.#accept(new Map(), store.seenVersion ?? '0', store.sequence)
    this.#enter('missing')
    return CACHE_DEFAULTS.missingRetryMs
  }

  /** Decides what a failure means for the next attempt. */
  #classify(error: unknown): InformerFailure {
    if (isExpired(error)) {
      this.#mustList = true
      return 'expired'
    }
    if (error instanceof WatchSilentError) {
      // Not every server sends bookmarks: the delay must not grow because a server is quiet.
      this.#failures = 0
      return 'silent'
    }
    if (error instanceof StaleListError) return 'stale'
    if (isApiError(error)) {
      // Rejections other than those about identity and load concern the version to resume from.
      if (![401, 403, 429, 500, 502, 503].includes(error.status)) this.#mustList = true
      return 'refused'
    }
    const isRemote = isConnectionError(error) || isDeadlineExceeded(error) || error instanceof ListTimeoutError
    return isRemote ? 'unreachable' : 'internal'
  }

  #fail(reason: InformerFailure, error: unknown): number {
    const { clock, random, metrics } = this.#options
    this.#failures++
    this.#failingSinceMs ??= clock.now()
    const message = reasonOf(error)
    this.#lastFailure = { reason, message, atMs: clock.now() }
    metrics.failed(this.#resource, reason)
    const delayMs = Math.max(
      exponentialBackoff(this.#failures, {
        baseMs: CACHE_DEFAULTS.backoffBaseMs,
        maxMs: CACHE_DEFAULTS.backoffMaxMs,
        jitter: CACHE_DEFAULTS.backoffJitter,
        random,
      }),
      retryAfterMs(error),
    )
    const fields = { reason, err: error, failures: this.#failures, delayMs, relist: this.#mustList }
    if (reason === 'internal') this.#logger.error(fields, 'informer failed unexpectedly')
    // The client reports an unreachable server and rejected credentials once, for all informers.
    else if (reason === 'unreachable' || isUnauthorized(error)) this.#logger.debug(fields, 'informer was interrupted')
    else this.#logger.warn(fields, 'informer was interrupted')
    return delayMs
  }

  /** Fetches everything in pages. */
  async #list(signal: AbortSignal): Promise<void> {
    const { store } = this.#options
    this.#enter('listing')
    const begunAt = store.sequence
    const floor = store.newestVersion
    const objects = new Map<string, Stored<T>>()
    const version = await this.#source.list(
      signal,
      (object) => this.#collect(objects, object),
      () => objects.clear(),
    )
    this.#replace(objects, version, begunAt, floor, 'paged')
  }

  /** Fetches everything as events of a watch, and continues watching. */
  async #stream(signal: AbortSignal): Promise<void> {
    const { store, clock, silenceMs, streaming } = this.#options
    this.#enter('listing')
    const begunAt = store.sequence
    const floor = store.newestVersion
    const startedMs = clock.now()
    const objects = new Map<string, Stored<T>>()
    let isComplete = false
    const collect = (event: WatchEvent<T>) => {
      if (event.type === 'BOOKMARK') {
        if (event.object.metadata.annotations?.[INITIAL_EVENTS_END] !== 'true') return
        isComplete = true
        this.#replace(objects, event.object.metadata.resourceVersion, begunAt, floor, 'streamed')
        this.#enter('watching')
        return
      }
      if (event.type === 'DELETED') objects.delete(formatKey(event.object.metadata))
      else this.#collect(objects, event.object)
      if (clock.now() - startedMs > CACHE_DEFAULTS.streamTimeoutMs)
        throw new StreamingUnavailableError(this.#source.description)
    }
    try {
      await this.#session(
        signal,
        { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' },
        () => (isComplete ? silenceMs : CACHE_DEFAULTS.streamSilenceMs),
        (event) => (isComplete ? this.#take(event) : collect(event)),
      )
    } catch (error) {
      if (isComplete || signal.aborted) throw error
      // After any failure, pages may work; only a clear rejection is shared with the other informers.
      if (isInvalid(error)) streaming.isOffered = false
      const isRefused = isApiError(error) && error.status < 500 && error.status !== 429 && !isExpired(error)
      const isUnavailable = isRefused || error instanceof WatchSilentError || error instanceof StreamingUnavailableError
      this.#skipsStreaming = isUnavailable && !isNotFound(error) ? 'always' : 'once'
      throw isUnavailable ? new StreamingUnavailableError(this.#source.description, { cause: error }) : error
    }
    if (isComplete) return
    this.#skipsStreaming = 'once'
    throw new StreamingUnavailableError(this.#source.description)
  }

  /**
   * Reads a single object. A watch is silent while nothing changes, so after a failure this shows that the server
   * responds again.
   */
  async #probe(signal: AbortSignal): Promise<void> {
    await this.#source.probe(signal)
    this.#heard()
  }

  /** Watches from where the store is; returns how many events came. */
  async #watch(signal: AbortSignal): Promise<number> {
    const { store, silenceMs } = this.#options
    let heard = 0
    await this.#session(
      signal,
      { resourceVersion: store.seenVersion ?? '' },
      () => silenceMs,
      (event) => {
        heard++
        this.#take(event)
      },
    )
    return heard
  }

  async #session(
    signal: AbortSignal,
    start: WatchStart,
    silenceMs: () => number,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const { metrics } = this.#options
    this.#watches++
    metrics.watchOpened(this.#resource)
    await this.#source.watch(signal, start, silenceMs, (event) => {
      metrics.event(this.#resource, event.type)
      onEvent(event)
      this.#heard()
    })
  }

  #take(event: WatchEvent<T>): void {
    const { store, onChanges, prepare } = this.#options
    // Only now is the connection known to work: a server that expires every version must not cause a tight loop.
    this.#failures = 0
    if (event.type === 'BOOKMARK') store.bookmark(event.object.metadata.resourceVersion)
    else {
      const object = store.ownWrite(event.object) ?? prepare(event.object)
      onChanges(store.applyEvent(event.type, object), false)
    }
  }

  /** An object that is cached already, in this version, is kept: readers continue to share it. */
  #collect(objects: Map<string, Stored<T>>, object: Stored<T>): void {
    const key = formatKey(object.metadata)
    const known = this.#options.store.watched(key)
    const { uid, resourceVersion } = object.metadata
    const isKnown = known?.metadata.uid === uid && known.metadata.resourceVersion === resourceVersion
    objects.set(key, isKnown ? known : this.#options.prepare(object))
  }

  #replace(
    objects: ReadonlyMap<string, Stored<T>>,
    version: string,
    begunAt: number,
    floor: string | undefined,
    how: 'paged' | 'streamed',
  ): void {
    const { metrics } = this.#options
    if (isOrdered(floor) && isOrdered(version) && isNewer(floor, version)) {
      this.#staleLists++
      if (this.#staleLists < CACHE_DEFAULTS.maxStaleLists)
        throw new StaleListError(this.#source.description, version, floor)
      this.#logger.warn({ listed: version, known: floor }, 'the server has an older state than before, accepting it')
    }
    this.#staleLists = 0
    if (!this.isServed) this.#logger.info({}, 'the kind is served now')
    this.#missingLists = 0
    this.#lists++
    this.#mustList = false
    if (this.#skipsStreaming === 'once') this.#skipsStreaming = 'no'
    metrics.listed(this.#resource, how)
    const changes = this.#accept(objects, version, begunAt)
    this.#logger.debug({ how, objects: objects.size, changes }, 'listed')
  }

  /** Takes over a complete state, and returns the number of changes. */
  #accept(objects: ReadonlyMap<string, Stored<T>>, version: string, begunAt: number): number {
    const { store, onChanges, onSynced } = this.#options
    this.#heard()
    const isInitial = !this.#isSynced
    const changes = store.replace(objects, version, begunAt)
    onChanges(changes, isInitial)
    if (isInitial) {
      this.#isSynced = true
      onSynced()
    }
    return changes.length
  }

  #heard(): void {
    this.#lastContactMs = this.#options.clock.now()
    this.#failingSinceMs = undefined
  }

  #enter(state: InformerState): void {
    if (this.#state === state) return
    this.#state = state
    this.#stateSinceMs = this.#options.clock.now()
  }
}

function retryAfterMs(error: unknown): number {
  return isApiError(error) ? (error.retryAfterMs ?? 0) : 0
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
