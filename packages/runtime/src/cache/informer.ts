/** A local copy of a collection, kept current and shared by all readers. */
import { type Clock, untilAborted } from '@reeve/http'
import {
  apiVersionOf,
  type DeleteOptions,
  formatKey,
  type KubeClient,
  type KubeObject,
  type ObjectKey,
  type Resource,
  type Selection,
  type Status,
  type Stored,
} from '@reeve/kube'
import { withOwnEntries } from '../field-ownership/own-fields.ts'
import type { Logger } from '../logging/logger.ts'
import { CacheStoppedError, UnknownIndexError } from './cache-error.ts'
import { type InformerHandler, InformerHandlers } from './informer-handlers.ts'
import type { InformerHealth } from './informer-health.ts'
import type { InformerMetrics } from './informer-metrics.ts'
import {
  describeSelection,
  type InformerOptions,
  informerId,
  resourceName,
  type Transform,
} from './informer-options.ts'
import { type DeletionStart, InformerStore } from './informer-store.ts'
import { type Indexer, NAMESPACE_INDEX, OWNER_INDEX } from './object-store.ts'
import { Reflector, type StreamingSupport } from './reflector.ts'
import { fieldMatcher, labelMatcher, type Matcher } from './selector.ts'
import type { SharedParts } from './shared-parts.ts'

/** Synchronous reads of a local copy. Objects are frozen and shared: copy before changing. */
export interface Lister<T extends KubeObject> {
  get(key: ObjectKey): Stored<T> | undefined
  /** In no particular order. */
  list(options?: { readonly namespace?: string; readonly labelSelector?: string }): readonly Stored<T>[]
  /** The objects for which the indexer returned `value`. */
  byIndex(index: string, value: string): readonly Stored<T>[]
  /** The objects whose controller has this uid. */
  ownedBy(ownerUid: string): readonly Stored<T>[]
}

/** What a {@link Cache} gives each of its informers. */
export interface InformerEnvironment {
  readonly client: KubeClient
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly metrics: InformerMetrics
  readonly pageSize: number
  readonly silenceMs: number
  readonly streaming: StreamingSupport
  readonly fieldManager: string
  readonly parts: SharedParts
}

/**
 * The copy of one resource and selection. Created by {@link Cache.informer}.
 *
 * *Guarantees*: reads never wait and never see an object older than a write of a tracked client that returned
 * before; handlers are called once per change; the copy stays current until the cache stops, through lost
 * connections, expired versions and silent servers, and reports in {@link Informer.health} when it cannot.
 *
 * @example
 * const pods = cache.informer(Pods, { namespace: 'shop' })
 * await pods.waitForSync(signal)
 * const web = pods.get({ namespace: 'shop', name: 'web-0' })
 */
export class Informer<T extends KubeObject> implements Lister<T> {
  readonly resource: Resource<T>
  readonly selection: Selection
  readonly metadataOnly: boolean
  /** See {@link informerId}. */
  readonly id: string
  readonly transform: Transform | undefined
  readonly #store = new InformerStore<T>()
  readonly #handlers: InformerHandlers<T>
  readonly #reflector: Reflector<T>
  readonly #matchers: readonly Matcher[]
  readonly #fieldManager: string
  readonly #parts: SharedParts
  readonly #synced = Promise.withResolvers<void>()
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(of: Resource<T>, options: InformerOptions<T>, environment: InformerEnvironment) {
    const {
      namespace,
      labelSelector,
      fieldSelector,
      metadataOnly = false,
      mayBeMissing = false,
      indexers = {},
    } = options
    this.resource = of
    this.metadataOnly = metadataOnly
    this.selection = {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    }
    this.#matchers = [
      ...(namespace === undefined ? [] : [(object: KubeObject) => object.metadata.namespace === namespace]),
      ...(labelSelector === undefined ? [] : [labelMatcher(labelSelector)]),
      ...(fieldSelector === undefined ? [] : [fieldMatcher(fieldSelector)]),
    ]
    this.id = informerId(of, options)
    this.transform = options.transform
    this.#fieldManager = environment.fieldManager
    this.#parts = environment.parts
    this.addIndexers(indexers)
    const logger = environment.logger.child({ informer: describeSelection(of, this.selection) })
    this.#handlers = new InformerHandlers(logger, () => environment.metrics.handlerFailed(resourceName(of)))
    this.#reflector = new Reflector({
      ...environment,
      resource: of,
      selection: this.selection,
      metadataOnly,
      mayBeMissing,
      store: this.#store,
      prepare: (object) => this.#prepare(object),
      onChanges: (changes, isInitial) => this.#handlers.dispatch(changes, isInitial),
      onSynced: () => {
        this.#handlers.synced()
        this.#synced.resolve()
      },
      logger,
    })
    // Possibly nothing awaits it; a stop before the first sync is not an error.
    this.#synced.promise.catch(() => undefined)
  }

  get(key: ObjectKey): Stored<T> | undefined {
    return this.#store.view.get(formatKey(key))
  }

  list(options: { readonly namespace?: string; readonly labelSelector?: string } = {}): readonly Stored<T>[] {
    const { namespace, labelSelector } = options
    const isNarrower = namespace !== undefined && namespace !== this.selection.namespace
    const objects = isNarrower ? this.#store.view.byIndex(NAMESPACE_INDEX, namespace) : [...this.#store.view.values()]
    return labelSelector === undefined ? objects : objects.filter(labelMatcher(labelSelector))
  }

  byIndex(index: string, value: string): readonly Stored<T>[] {
    if (!this.#store.view.hasIndex(index)) throw new UnknownIndexError(index, resourceName(this.resource))
    return this.#store.view.byIndex(index, value)
  }

  ownedBy(ownerUid: string): readonly Stored<T>[] {
    return this.#store.view
      .byIndex(OWNER_INDEX, ownerUid)
      .filter(({ metadata }) =>
        metadata.ownerReferences?.some(({ uid, controller }) => uid === ownerUid && controller === true),
      )
  }

  /** Whether an object with these fields belongs to the selection. */
  selects(object: KubeObject): boolean {
    return this.#matchers.every((matches) => matches(object))
  }

  /** Changes up to this resourceVersion have arrived. */
  get seenVersion(): string | undefined {
    return this.#store.seenVersion
  }

  /** See {@link InformerStore.removedVersion}. */
  get removedVersion(): string | undefined {
    return this.#store.removedVersion
  }

  /** How many objects readers see. */
  get size(): number {
    return this.#store.view.size
  }

  /** The first complete state has arrived. */
  get isSynced(): boolean {
    return this.#reflector.isSynced
  }

  /** False while the kind is missing, which only {@link InformerOptions.mayBeMissing} allows. */
  get isServed(): boolean {
    return this.#reflector.isServed
  }

  /**
   * Resolves when the first complete state has arrived and handlers were called.
   *
   * *Errors*: the signal's reason; {@link CacheStoppedError} when the informer is stopped first.
   */
  waitForSync(signal: AbortSignal): Promise<void> {
    return untilAborted(this.#synced.promise, signal)
  }

  /**
   * Calls `handler` with every object that exists and with every later change.
   *
   * @returns the function that removes it.
   */
  addHandler(handler: InformerHandler<T>): () => void {
    const present = [...this.#store.watchedEntries()].map(([, object]) => object)
    return this.#handlers.add(handler, present, this.isSynced)
  }

  /** Declares further indexes; a name that is taken keeps its first function. */
  addIndexers(indexers: Readonly<Record<string, Indexer<T>>>): void {
    for (const [name, indexer] of Object.entries(indexers)) this.#store.view.addIndex(name, indexer)
  }

  health(): InformerHealth {
    return this.#reflector.health()
  }

  /** Starts to fill and follow, until `signal` aborts or {@link Informer.stop} is called. For the cache to call. */
  start(signal: AbortSignal): Promise<void> {
    this.#running ??= this.#run(signal)
    return this.#running
  }

  /** Stops; resolves when nothing is running. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
    this.#synced.reject(new CacheStoppedError(describeSelection(this.resource, this.selection)))
  }

  /** Lays the response of an own write over what the watch shows. For `trackWrites`. */
  recordWrite(written: Stored<T>): void {
    const isSelected = this.selects(written)
    const isOurs = this.selection.namespace === undefined || this.selection.namespace === written.metadata.namespace
    if (!isOurs) return
    this.#store.recordWrite(written, isSelected ? this.#prepare(written) : undefined)
  }

  /** Call this when a deletion is sent, for {@link Informer.recordDeletion}. */
  beginDeletion(key: ObjectKey): DeletionStart {
    return this.#store.beginDeletion(formatKey(key))
  }

  /**
   * Hides what an own deletion removed.
   *
   * @param gone the response of the server
   * @param preconditions those of the deletion: equivalent to a response with the same values
   */
  recordDeletion(
    key: ObjectKey,
    start: DeletionStart,
    gone: Status | Stored<KubeObject>,
    preconditions: DeleteOptions['preconditions'] = {},
  ): void {
    const answered = isObject(gone) ? gone.metadata : { uid: gone.details?.uid, resourceVersion: undefined }
    const uid = answered.uid ?? preconditions.uid
    const version = answered.resourceVersion ?? preconditions.resourceVersion
    this.#store.recordDeletion(formatKey(key), start, uid, version)
  }

  #prepare(object: Stored<T>): Stored<T> {
    const whole = this.metadataOnly ? metadataOf(this.resource, object) : object
    const reduced = this.transform === undefined ? whole : this.transform(whole)
    return this.#parts.freeze(withOwnEntries(reduced, object, this.#fieldManager))
  }

  async #run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(AbortSignal.any([signal, this.#stop.signal]))
    this.#synced.reject(new CacheStoppedError(describeSelection(this.resource, this.selection)))
  }
}

/**
 * Only `apiVersion`, `kind` and `metadata`, with the resource's own kind in place of `PartialObjectMetadata`: what
 * is read from a metadata-only cache looks like the object it describes.
 */
function metadataOf<T extends KubeObject>(of: Resource<T>, object: Stored<T>): Stored<T> {
  const partial = { apiVersion: apiVersionOf(of), kind: of.kind, metadata: object.metadata }
  return partial as unknown as Stored<T> // a reader of metadata only knows that spec and status are absent
}

function isObject(answer: Status | Stored<KubeObject>): answer is Stored<KubeObject> {
  return answer.kind !== 'Status' && 'metadata' in answer
}
