/** The informers of a controller, and what turns their events into keys to reconcile. */
import type { KubeObject, ObjectKey, Resource } from '@reeve/kube'
import type { BorrowedInformer, Cache } from '../cache/cache.ts'
import { type CacheReader, readerOf } from '../cache/cache-reader.ts'
import type { Informer } from '../cache/informer.ts'
import type { InformerHandler } from '../cache/informer-handlers.ts'
import { type InformerOptions, resourceName } from '../cache/informer-options.ts'
import type { AddOptions } from '../queue/work-item.ts'
import type { ObjectChange } from './predicates.ts'
import type { MappedSource, Source } from './sources.ts'

/** What {@link WatchedSources} works with. */
export interface WatchedSourcesOptions {
  readonly cache: Cache
  /** One informer for each of them. @default one for all namespaces */
  readonly namespaces?: readonly string[] | undefined
  /** Names the controller in errors. */
  readonly controller: string
  /** Receives every key that a change concerns. */
  readonly enqueue: (key: ObjectKey, options: AddOptions, change: ObjectChange<KubeObject>) => void
}

/** A source while it is watched. */
interface Watched {
  readonly informers: readonly Informer<KubeObject>[]
  /** Makes what turns events into keys, of those that are accepted. Absent for what is only read. */
  readonly handlerFor?: (accepts: (key: ObjectKey) => boolean) => InformerHandler<KubeObject>
  readonly removeHandlers: (() => void)[]
}

/** A source that can be removed again. */
export interface BorrowedSource {
  readonly informers: readonly Informer<KubeObject>[]
  /** Turns events into reconciles from now on, beginning with every object that exists. */
  begin(): void
  /** Removes it: no further event is a reconcile. Resolves when its informers stopped, unless others need them. */
  release(): Promise<void>
}

/**
 * *Guarantees*: handlers are called between {@link WatchedSources.start} and {@link WatchedSources.stop} only; a source
 * that is added between them is called with every object that exists, as those before it were.
 */
export class WatchedSources {
  /** Reads everything that is watched or read, as soon as it is synced. */
  readonly reader: CacheReader
  readonly #options: WatchedSourcesOptions
  readonly #watched = new Set<Watched>()
  /** Looked up by every read; empty after a source was added or removed. */
  readonly #informersOf = new Map<string, readonly Informer<KubeObject>[]>()
  #isStarted = false

  constructor(options: WatchedSourcesOptions) {
    this.#options = options
    this.reader = readerOf(
      (of) => {
        const informers = this.informersOf(of)
        return informers.every(({ isSynced }) => isSynced) ? informers : informers.filter(({ isSynced }) => isSynced)
      },
      options.cache.fieldManager,
      `add it to for, owns, watches or reads of the controller ${options.controller}, or wait for its watch to sync`,
    )
  }

  /** The informers of every source. */
  get informers(): readonly Informer<KubeObject>[] {
    return [...new Set([...this.#watched].flatMap(({ informers }) => informers))]
  }

  informersOf<S extends KubeObject>(of: Resource<S>): readonly Informer<S>[] {
    const name = resourceName(of)
    let found = this.#informersOf.get(name)
    if (found === undefined) {
      found = this.informers.filter(({ resource }) => resourceName(resource) === name)
      this.#informersOf.set(name, found)
    }
    return found as unknown as readonly Informer<S>[] // requested with the resource that carries the type
  }

  /** Watches a source until the controller stops. */
  watch<S extends KubeObject>(source: MappedSource<S>): void {
    this.#add(asWatched(this.#permanent(source), (accepts) => this.#handlerOf(source, accepts)))
  }

  /** Caches a source until the controller stops. */
  read(source: Source<KubeObject>): void {
    this.#add(asWatched(this.#permanent(source)))
  }

  /** A source for a time. *Errors*: those of `Cache.borrow`. */
  borrow<S extends KubeObject>(source: MappedSource<S>): BorrowedSource {
    const { cache } = this.#options
    const borrowed: BorrowedInformer<S>[] = []
    const giveBack = () => Promise.all(borrowed.map(({ release }) => release()))
    try {
      for (const selection of this.#selections(source)) borrowed.push(cache.borrow(source.resource, selection))
    } catch (error) {
      void giveBack() // never rejects: stopping an informer does not
      throw error
    }
    const watched = asWatched(
      borrowed.map(({ informer }) => informer),
      (accepts) => this.#handlerOf(source, accepts),
    )
    return {
      informers: watched.informers,
      begin: () => this.#add(watched),
      release: async () => {
        this.#detach(watched)
        this.#watched.delete(watched)
        this.#informersOf.clear()
        await giveBack()
      },
    }
  }

  /** Calls handlers from now on. */
  start(): void {
    this.#isStarted = true
    for (const watched of this.#watched) this.#attach(watched)
  }

  stop(): void {
    this.#isStarted = false
    for (const watched of this.#watched) this.#detach(watched)
  }

  /** Enqueues the accepted keys that concern the objects which exist, as a start does. */
  replay(accepts: (key: ObjectKey) => boolean): void {
    if (!this.#isStarted) return
    for (const { informers, handlerFor } of this.#watched) {
      // A handler is called with every object when it is added.
      if (handlerFor !== undefined) for (const informer of informers) informer.addHandler(handlerFor(accepts))()
    }
  }

  #permanent<S extends KubeObject>(source: Source<S>): readonly Informer<S>[] {
    return this.#selections(source).map((selection) => this.#options.cache.informer(source.resource, selection))
  }

  /** What each informer of a source selects: one, or one per namespace. */
  #selections<S extends KubeObject>(source: Source<S>): readonly InformerOptions<S>[] {
    const { resource, predicate: _, ...options } = source
    const { namespaces } = this.#options
    const isSpread = namespaces !== undefined && resource.namespaced && options.namespace === undefined
    return isSpread ? namespaces.map((namespace) => ({ ...options, namespace })) : [options]
  }

  #add(watched: Watched): void {
    this.#watched.add(watched)
    this.#informersOf.clear()
    if (this.#isStarted) this.#attach(watched)
  }

  #attach({ informers, handlerFor, removeHandlers }: Watched): void {
    if (handlerFor === undefined) return
    const handler = handlerFor(() => true)
    for (const informer of informers) removeHandlers.push(informer.addHandler(handler))
  }

  #detach({ removeHandlers }: Watched): void {
    for (const remove of removeHandlers.splice(0)) remove()
  }

  #handlerOf<S extends KubeObject>(source: MappedSource<S>, accepts: (key: ObjectKey) => boolean): InformerHandler<S> {
    const { kind } = source.resource
    const enqueue = (change: ObjectChange<S>, isNews = true) => {
      if (source.predicate !== undefined && !source.predicate(change)) return
      const { namespace, name } = change.object.metadata
      const reason = { event: change.type, kind, name, ...(namespace !== undefined && { namespace }) }
      // Objects found at the start, and what a reconcile has written itself, have a lower priority than other changes.
      const priority = isNews ? 'high' : 'low'
      const states = change.type === 'modified' ? [change.object, change.previous] : [change.object]
      for (const key of states.flatMap((state) => source.map(state, this.reader))) {
        if (accepts(key)) this.#options.enqueue(key, { reason, priority }, change)
      }
    }
    return {
      added: (object, isInitial, isOwn) => enqueue({ type: 'added', object }, !isInitial && !isOwn),
      modified: (previous, object, isOwn) => enqueue({ type: 'modified', previous, object }, !isOwn),
      deleted: (object) => enqueue({ type: 'deleted', object }),
    }
  }
}

function asWatched<S extends KubeObject>(
  informers: readonly Informer<S>[],
  handlerFor?: (accepts: (key: ObjectKey) => boolean) => InformerHandler<S>,
): Watched {
  // Each handler is called only by informers of its own resource.
  const erased = { informers, ...(handlerFor && { handlerFor }) } as unknown as Pick<
    Watched,
    'informers' | 'handlerFor'
  >
  return { ...erased, removeHandlers: [] }
}
