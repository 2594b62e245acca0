/**
 * Keeps a store equal to the server: list everything, watch from there, resume after every interruption, list again
 * when the server no longer remembers. Ends only on abort.
 */
import { sleep } from '@reeve/http'
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
  type WatchEvent,
} from '@reeve/kube'
import { CACHE_DEFAULTS } from '../defaults.ts'
import type { Logger } from '../logging/logger.ts'
import { exponentialBackoff } from '../queue/backoff.ts'
import { isNewer, isOrdered } from '../resource-version.ts'
import { ListTimeoutError, StaleListError, StreamingUnavailableError, WatchSilentError } from './cache-error.ts'
import { CollectionSource, type CollectionSourceOptions, type WatchStart } from './collection-source.ts'
import type { InformerFailure, InformerHealth } from './informer-health.ts'
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

/** The whole state is fetched: as the first events of a watch, or in pages. */
interface Listing {
  readonly name: 'listing'
  readonly how: 'streamed' | 'paged'
  /** How many lists in a row were older than the store, */
  readonly stale: number
  /** and how many found that the kind is not served. */
  readonly missing: number
}

/** A watch is open or being opened. */
interface Watching {
  readonly name: 'watching'
}

/** What the loop does now, and what comes next: it decides, and health shows its name. */
type State =
  | { readonly name: 'waiting' }
  | Listing
  | Watching
  | { readonly name: 'backing-off'; readonly delayMs: number; readonly next: Listing | Watching }
  /** The kind is not served, and is asked for again. */
  | { readonly name: 'missing'; readonly next: Listing }
  | { readonly name: 'stopped' }

const WATCHING: Watching = { name: 'watching' }
const STOPPED: State = { name: 'stopped' }

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
  #state: State = { name: 'waiting' }
  /** False once the server rejected a stream of this collection, or was silent. */
  #canStream = true
  /** In a row: the delay grows with them. */
  #failures = 0
  #failingSinceMs: number | undefined
  #lastFailure: InformerHealth['lastFailure']
  #isSynced = false
  // Only shown:
  #stateSinceMs: number
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
    const coming = 'next' in this.#state ? this.#state.next : this.#state
    return coming.name !== 'listing' || coming.missing === 0
  }

  /** Runs until `signal` aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) this.#enter(await this.#step(this.#state, signal))
    this.#enter(STOPPED)
  }

  health(): InformerHealth {
    const { store, clock } = this.#options
    const failingForMs = this.#failingSinceMs === undefined ? 0 : clock.now() - this.#failingSinceMs
    return {
      resource: this.#resource,
      description: this.#source.description,
      state: this.#state.name,
      stateSinceMs: this.#stateSinceMs,
      isSynced: this.#isSynced,
      isHealthy: this.#isSynced && this.#state.name !== 'stopped' && failingForMs < CACHE_DEFAULTS.unhealthyAfterMs,
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

  /** Does what a state says, and returns the state after it. */
  async #step(state: State, signal: AbortSignal): Promise<State> {
    switch (state.name) {
      case 'waiting':
        return this.#newListing()
      case 'listing':
        try {
          return await (state.how === 'paged' ? this.#list(state, signal) : this.#stream(state, signal))
        } catch (error) {
          if (signal.aborted) return STOPPED
          // A stream becomes a watch when its initial state is complete.
          return this.#isWatching ? this.#afterWatch(error) : this.#afterList(state, error)
        }
      case 'watching':
        try {
          return await this.#watch(signal)
        } catch (error) {
          return signal.aborted ? STOPPED : this.#afterWatch(error)
        }
      case 'backing-off':
      case 'missing': {
        const delayMs = state.name === 'missing' ? CACHE_DEFAULTS.missingRetryMs : state.delayMs
        // Aborted: the condition of the loop ends it.
        await sleep(delayMs, { clock: this.#options.clock, signal }).catch(() => undefined)
        return state.next
      }
      case 'stopped':
        return state
    }
  }

  #newListing(): Listing {
    return { name: 'listing', how: this.#canStream ? 'streamed' : 'paged', stale: 0, missing: 0 }
  }

  /** Fetches everything in pages. */
  async #list(state: Listing, signal: AbortSignal): Promise<State> {
    const { store } = this.#options
    const begunAt = store.sequence
    const floor = store.newestVersion
    const objects = new Map<string, Stored<T>>()
    const version = await this.#source.list(
      signal,
      (object) => this.#collect(objects, object),
      () => objects.clear(),
    )
    this.#replace(state, objects, version, begunAt, floor)
    return WATCHING
  }

  /** Fetches everything as events of a watch, and continues watching. */
  async #stream(state: Listing, signal: AbortSignal): Promise<State> {
    const { store, clock, silenceMs, streaming } = this.#options
    const paged: Listing = { ...state, how: 'paged' }
    if (!streaming.isOffered) return paged
    const begunAt = store.sequence
    const floor = store.newestVersion
    const startedMs = clock.now()
    const objects = new Map<string, Stored<T>>()
    const collect = (event: WatchEvent<T>) => {
      if (event.type === 'BOOKMARK') {
        if (event.object.metadata.annotations?.[INITIAL_EVENTS_END] !== 'true') return
        this.#replace(state, objects, event.object.metadata.resourceVersion, begunAt, floor)
        return
      }
      if (event.type === 'DELETED') objects.delete(formatKey(event.object.metadata))
      else this.#collect(objects, event.object)
      if (clock.now() - startedMs > CACHE_DEFAULTS.streamTimeoutMs)
        throw new StreamingUnavailableError(this.#source.description)
    }
    let reason = 'the server ended the stream before the initial state was complete'
    try {
      await this.#session(
        signal,
        { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' },
        () => (this.#isWatching ? silenceMs : CACHE_DEFAULTS.streamSilenceMs),
        (event) => (this.#isWatching ? this.#take(event) : collect(event)),
      )
      if (this.#isWatching) return WATCHING
    } catch (error) {
      if (this.#isWatching || signal.aborted || error instanceof StaleListError) throw error
      // After any failure, pages may work; only a clear rejection is shared with the other informers.
      if (isInvalid(error)) streaming.isOffered = false
      const isRefused = isApiError(error) && error.status < 500 && error.status !== 429 && !isExpired(error)
      const isUnavailable = isRefused || error instanceof WatchSilentError || error instanceof StreamingUnavailableError
      if (!isUnavailable) return this.#fail(error, paged)
      if (!isNotFound(error)) this.#canStream = false
      reason = messageOf(error)
    }
    this.#logger.debug({ reason }, 'streaming lists are not available, listing in pages')
    return paged
  }

  /** Watches from where the store is. */
  async #watch(signal: AbortSignal): Promise<State> {
    const { store, silenceMs, clock } = this.#options
    const startedMs = clock.now()
    // A watch is silent while nothing changes: reading a single object shows that the server responds again. That proves
    // nothing about an internal failure.
    if (this.#failingSinceMs !== undefined && this.#lastFailure?.reason !== 'internal') {
      await this.#source.probe(signal)
      this.#heard()
    }
    let events = 0
    await this.#session(
      signal,
      { resourceVersion: store.seenVersion ?? '' },
      () => silenceMs,
      (event) => {
        events++
        this.#take(event)
      },
    )
    // A watch may end at any time, but one that ends immediately without an event would cause a tight loop.
    if (events === 0 && clock.now() - startedMs < CACHE_DEFAULTS.minWatchMs) {
      return this.#fail(new Error('the server ended the watch immediately'), WATCHING, 'closed')
    }
    this.#failures = 0
    return WATCHING
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
    else onChanges(store.applyEvent(event.type, store.ownWrite(event.object) ?? prepare(event.object)), false)
  }

  /** An object that is cached already, in this version, is kept: readers continue to share it. */
  #collect(objects: Map<string, Stored<T>>, object: Stored<T>): void {
    const key = formatKey(object.metadata)
    const known = this.#options.store.watched(key)
    const { uid, resourceVersion } = object.metadata
    const isKnown = known?.metadata.uid === uid && known.metadata.resourceVersion === resourceVersion
    objects.set(key, isKnown ? known : this.#options.prepare(object))
  }

  /** Takes over a complete list, unless it is older than `floor`, and begins to watch. */
  #replace(
    { how, stale, missing }: Listing,
    objects: ReadonlyMap<string, Stored<T>>,
    version: string,
    begunAt: number,
    floor: string | undefined,
  ): void {
    const { metrics } = this.#options
    if (isOrdered(floor) && isOrdered(version) && isNewer(floor, version)) {
      if (stale + 1 < CACHE_DEFAULTS.maxStaleLists) {
        throw new StaleListError(this.#source.description, version, floor)
      }
      this.#logger.warn({ listed: version, known: floor }, 'the server has an older state than before, accepting it')
    }
    if (missing > 0) this.#logger.info({}, 'the kind is served now')
    this.#lists++
    metrics.listed(this.#resource, how)
    this.#enter(WATCHING)
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

  /** After a watch failed: it continues, unless the server rejects the version that it would continue from. */
  #afterWatch(error: unknown): State {
    // Rejections other than those about identity and load concern the version to resume from.
    const isAboutVersion = isApiError(error) && ![401, 403, 429, 500, 502, 503].includes(error.status)
    return this.#fail(error, isExpired(error) || isAboutVersion ? this.#newListing() : WATCHING)
  }

  /** After a list failed. */
  #afterList(state: Listing, error: unknown): State {
    const { mayBeMissing, store } = this.#options
    if (error instanceof StaleListError) return this.#fail(error, { ...state, stale: state.stale + 1 })
    if (!mayBeMissing || !isNotFound(error)) return this.#fail(error, state)
    // The kind is not served: an empty collection. One that has objects must be missing several times, because one of
    // several API servers may be late to serve it.
    const next = { ...state, missing: state.missing + 1 }
    if (store.view.size > 0 && next.missing < CACHE_DEFAULTS.maxMissingLists) return this.#fail(error, next)
    if (next.missing === 1) this.#logger.info({}, 'the kind is not served, waiting')
    this.#failures = 0
    const missing: State = { name: 'missing', next }
    this.#enter(missing)
    this.#accept(new Map(), store.seenVersion ?? '0', store.sequence)
    return missing
  }

  /** Records a failure, and backs off before the next state. */
  #fail(error: unknown, next: Listing | Watching, reason = failureOf(error)): State {
    const { clock, random, metrics } = this.#options
    // Not every server sends bookmarks: the delay must not grow because a server is quiet.
    this.#failures = reason === 'silent' ? 1 : this.#failures + 1
    this.#failingSinceMs ??= clock.now()
    this.#lastFailure = { reason, message: messageOf(error), atMs: clock.now() }
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
    const fields = { reason, err: error, failures: this.#failures, delayMs, relist: next.name === 'listing' }
    if (reason === 'internal') this.#logger.error(fields, 'informer failed unexpectedly')
    // The client reports an unreachable server and rejected credentials once, for all informers.
    else if (reason === 'unreachable' || isUnauthorized(error)) this.#logger.debug(fields, 'informer was interrupted')
    else this.#logger.warn(fields, 'informer was interrupted')
    return { name: 'backing-off', delayMs, next }
  }

  #heard(): void {
    this.#lastContactMs = this.#options.clock.now()
    this.#failingSinceMs = undefined
  }

  get #isWatching(): boolean {
    return this.#state.name === 'watching'
  }

  #enter(state: State): void {
    if (this.#state.name !== state.name) this.#stateSinceMs = this.#options.clock.now()
    this.#state = state
  }
}

function failureOf(error: unknown): InformerFailure {
  if (isExpired(error)) return 'expired'
  if (error instanceof WatchSilentError) return 'silent'
  if (error instanceof StaleListError) return 'stale'
  if (isApiError(error)) return 'refused'
  const isRemote = isConnectionError(error) || isDeadlineExceeded(error) || error instanceof ListTimeoutError
  return isRemote ? 'unreachable' : 'internal'
}

function retryAfterMs(error: unknown): number {
  return isApiError(error) ? (error.retryAfterMs ?? 0) : 0
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
