/** All informers of a process: created once per resource and selection, started and stopped together. */
import { type Clock, systemClock, untilAborted } from '@reeve/http'
import type { KubeClient, KubeObject, ObjectKey, Resource, Stored } from '@reeve/kube'
import { CACHE_DEFAULTS } from '../defaults.ts'
import type { Runnable } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import type { Metrics } from '../metrics/registry.ts'
import { CacheConfigError, NotSyncedError, TooManyInformersError, UnscopedInformerError } from './cache-error.ts'
import { type CacheReader, readerOf } from './cache-reader.ts'
import { Informer, type InformerEnvironment } from './informer.ts'
import type { InformerHealth } from './informer-health.ts'
import { informerMetrics } from './informer-metrics.ts'
import { type InformerOptions, informerId, resourceName } from './informer-options.ts'
import { SharedParts } from './shared-parts.ts'

/** Options of {@link Cache}. */
export interface CacheOptions {
  readonly clock?: Clock
  /** Source of jitter, in [0, 1). @default Math.random */
  readonly random?: () => number
  readonly logger?: Logger
  readonly metrics?: Metrics
  /**
   * The field manager of the operator. Objects keep its entries of managedFields, which components compare, and no others.
   * @default none: managedFields are dropped, and components reject this cache
   */
  readonly fieldManager?: string
  /** Objects per page of a list. @default 500 */
  readonly pageSize?: number
  /**
   * A watch without any event or bookmark for this long is closed, and another one opened. Bookmarks come every minute, so
   * less than 70 s tears down healthy watches. @default 75_000
   */
  readonly silenceMs?: number
  /** @default 200 */
  readonly maxInformers?: number
}

/** The state of all informers. */
export interface CacheHealth {
  /** `unhealthy` is empty. */
  readonly isHealthy: boolean
  readonly informers: readonly InformerHealth[]
  /** Those that are not synced or cut off. A borrowed one, which nothing waits for, counts once it was synced. */
  readonly unhealthy: readonly InformerHealth[]
}

/** An informer for a time. */
export interface BorrowedInformer<T extends KubeObject> {
  readonly informer: Informer<T>
  /** Call it when it is not needed any more. Resolves when the informer stopped, unless others need it. */
  release(): Promise<void>
}

/** An informer, and who needs it. */
interface Shared {
  readonly informer: Informer<KubeObject>
  /** Requested by {@link Cache.informer}: it stays until the cache stops. */
  isPermanent: boolean
  borrowers: number
}

/** Caching all of these would cache every Secret of the cluster: gigabytes in a large one. */
const NEVER_CLUSTER_WIDE = new Set(['secrets', 'configmaps'])

/**
 * The local copies of what controllers read.
 *
 * *Guarantees*: asking twice for the same resource and selection gives the same informer; reads never wait, and fail with
 * {@link NotSyncedError} rather than show a cache that is still being filled; with `trackWrites` they include
 * the process's own writes; once `run` resolved nothing is running.
 *
 * @example
 * const cache = new Cache(client)
 * const deployments = cache.informer(Deployments, { labelSelector: 'app.kubernetes.io/managed-by=webapp' })
 * const running = cache.run(signal)
 * await cache.waitForSync(signal)
 * const tracked = trackWrites(client, cache)
 */
export class Cache implements Runnable, CacheReader {
  readonly name = 'cache'
  /** A standby keeps its cache warm, so that it can take over immediately. */
  readonly needsLeadership = false
  readonly phase = 'caches'
  readonly fieldManager: string
  readonly #environment: InformerEnvironment
  readonly #maxInformers: number
  readonly #shared = new Set<Shared>()
  readonly #byResource = new Map<string, Informer<KubeObject>[]>()
  readonly #reader: CacheReader
  #run: { readonly signal: AbortSignal; readonly loops: Set<Promise<void>> } | undefined

  constructor(client: KubeClient, options: CacheOptions = {}) {
    const { pageSize = CACHE_DEFAULTS.pageSize, silenceMs = CACHE_DEFAULTS.silenceMs } = options
    const { maxInformers = CACHE_DEFAULTS.maxInformers, fieldManager = '' } = options
    this.fieldManager = fieldManager
    this.#environment = {
      client,
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      logger: options.logger ?? silentLogger,
      metrics: informerMetrics(options.metrics, () => this.health().informers),
      pageSize: checked('pageSize', pageSize, 'a number of objects'),
      silenceMs: checked('silenceMs', silenceMs, 'a number of milliseconds'),
      streaming: { isOffered: true },
      fieldManager: this.fieldManager,
      parts: new SharedParts(),
    }
    this.#maxInformers = maxInformers
    this.#reader = readerOf((of) => this.informersOf(of), fieldManager, 'declare it with cache.informer() first')
  }

  /**
   * The informer of a resource and selection, created on first use. Starts immediately when the cache runs.
   *
   * *Errors*: {@link UnscopedInformerError} for all Secrets or ConfigMaps of a cluster;
   * {@link TooManyInformersError}.
   */
  informer<T extends KubeObject>(of: Resource<T>, options: InformerOptions<T> = {}): Informer<T> {
    const [shared, informer] = this.#share(of, options)
    shared.isPermanent = true
    return informer
  }

  /**
   * The informer of a resource and selection, for a time: it stops when the last one that borrowed it releases it, unless
   * {@link Cache.informer} was called for it. *Errors*: as those of {@link Cache.informer}.
   *
   * @example
   * const { informer, release } = cache.borrow(Widgets, { mayBeMissing: true })
   * await informer.waitForSync(signal)
   * await release()
   */
  borrow<T extends KubeObject>(of: Resource<T>, options: InformerOptions<T> = {}): BorrowedInformer<T> {
    const [shared, informer] = this.#share(of, options)
    shared.borrowers++
    let isReleased = false
    return {
      informer,
      release: async () => {
        if (isReleased) return
        isReleased = true
        shared.borrowers--
        if (shared.borrowers === 0 && !shared.isPermanent) await this.#discard(shared.informer)
      },
    }
  }

  #share<T extends KubeObject>(of: Resource<T>, options: InformerOptions<T>): readonly [Shared, Informer<T>] {
    const { namespace, labelSelector, fieldSelector, metadataOnly = false } = options
    const isSelective = namespace !== undefined || labelSelector !== undefined || fieldSelector !== undefined
    if (of.group === '' && NEVER_CLUSTER_WIDE.has(of.plural) && !isSelective && !metadataOnly) {
      throw new UnscopedInformerError(of.plural)
    }
    const id = informerId(of, options)
    const known = [...this.#shared].find(
      ({ informer }) => informer.id === id && informer.transform === options.transform,
    )
    if (known !== undefined) {
      const informer = known.informer as unknown as Informer<T> // the id contains the resource, and so the type
      informer.addIndexers(options.indexers ?? {})
      return [known, informer]
    }
    if (this.#shared.size >= this.#maxInformers) throw new TooManyInformersError(this.#maxInformers)
    const made = new Informer(of, options, this.#environment)
    const erased = made as unknown as Informer<KubeObject> // stored by id; returned only for the same resource
    const shared = { informer: erased, isPermanent: false, borrowers: 0 }
    this.#shared.add(shared)
    const resource = resourceName(of)
    this.#byResource.set(resource, [...(this.#byResource.get(resource) ?? []), erased])
    this.#start(erased)
    return [shared, made]
  }

  /** Stops an informer and removes it. Later requests for the same selection create a new one. */
  async #discard(informer: Informer<KubeObject>): Promise<void> {
    for (const shared of this.#shared) if (shared.informer === informer) this.#shared.delete(shared)
    const resource = resourceName(informer.resource)
    const others = (this.#byResource.get(resource) ?? []).filter((known) => known !== informer)
    if (others.length > 0) this.#byResource.set(resource, others)
    else this.#byResource.delete(resource)
    await informer.stop()
  }

  get #informers(): readonly Informer<KubeObject>[] {
    return [...this.#shared].map(({ informer }) => informer)
  }

  get #permanent(): readonly Informer<KubeObject>[] {
    return [...this.#shared].filter(({ isPermanent }) => isPermanent).map(({ informer }) => informer)
  }

  /** Runs all informers, including those requested later, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#run !== undefined) throw new CacheConfigError('run', 'called twice', 'called once')
    const loops = new Set<Promise<void>>()
    this.#run = { signal, loops }
    for (const informer of this.#informers) this.#start(informer)
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await aborted
    // An informer may be requested while the others stop.
    while (loops.size > 0) await Promise.all(loops)
  }

  /**
   * Resolves when every informer requested so far is synced, except for borrowed ones.
   *
   * *Errors*: the signal's reason; `CacheStoppedError`.
   */
  async waitForSync(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await untilAborted(Promise.all(this.#permanent.map((informer) => informer.waitForSync(signal))), signal)
  }

  /** The same as {@link Cache.waitForSync}, under the name that the manager uses. */
  whenReady(signal: AbortSignal): Promise<void> {
    return this.waitForSync(signal)
  }

  /** Every informer requested so far is synced, except for borrowed ones. */
  get isSynced(): boolean {
    return this.#permanent.every(({ isSynced }) => isSynced)
  }

  health(): CacheHealth {
    const informers = this.#informers.map((informer) => informer.health())
    const unhealthy = [...this.#shared]
      .filter(({ informer, isPermanent }) => isPermanent || informer.isSynced)
      .map(({ informer }) => informer.health())
      .filter(({ isHealthy }) => !isHealthy)
    return { isHealthy: unhealthy.length === 0, informers, unhealthy }
  }

  get<T extends KubeObject>(of: Resource<T>, key: ObjectKey) {
    return this.#synced(of, this.#reader.get(of, key))
  }

  list<T extends KubeObject>(of: Resource<T>, options?: { namespace?: string; labelSelector?: string }) {
    return this.#synced(of, this.#reader.list(of, options))
  }

  byIndex<T extends KubeObject>(of: Resource<T>, index: string, value: string) {
    return this.#synced(of, this.#reader.byIndex(of, index, value))
  }

  ownedBy<T extends KubeObject>(of: Resource<T>, ownerUid: string) {
    return this.#synced(of, this.#reader.ownedBy(of, ownerUid))
  }

  provenAt(of: Resource, owner: Stored<KubeObject>, absent: Resource, namespace: string | undefined) {
    return this.#reader.provenAt?.(of, owner, absent, namespace)
  }

  selects<T extends KubeObject>(of: Resource<T>, object: KubeObject) {
    return this.#reader.selects(of, object)
  }

  /** Returns what was read. Borrowed informers may be empty: nothing waits for them, and their kind may not exist. */
  #synced<R>(of: Resource, result: R): R {
    for (const informer of this.informersOf(of)) {
      if (!informer.isSynced && this.#permanent.includes(informer)) throw new NotSyncedError(resourceName(of))
    }
    return result
  }

  /** The informers that may hold objects of a resource, in any version. For `trackWrites`. */
  informersOf<T extends KubeObject>(of: Resource<T>): readonly Informer<T>[] {
    const informers = this.#byResource.get(resourceName(of)) ?? []
    return informers as unknown as readonly Informer<T>[] // filed under the resource that carries the type
  }

  #start(informer: Informer<KubeObject>): void {
    if (this.#run === undefined) return
    const { signal, loops } = this.#run
    const loop = informer.start(signal).finally(() => loops.delete(loop))
    loops.add(loop)
  }
}

function checked(option: string, value: number, what: string): number {
  if (value > 0 && value < 2 ** 31) return value
  throw new CacheConfigError(option, value, `${what} above 0 and below 2^31`)
}
