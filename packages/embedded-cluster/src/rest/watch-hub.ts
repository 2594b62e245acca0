/**
 * Tracks open watches between the store and clients, and can delay or drop events, so that tests can give an operator a
 * stale or incomplete view.
 */
import type { StoreEvent } from '../store/event-log.ts'
import type { Store } from '../store/store.ts'
import type { StoredObject } from '../store/stored-object.ts'
import type { Watcher } from './watcher.ts'

/** A frozen collection: kept here, because the store may discard its history. */
interface FrozenView {
  readonly revision: number
  readonly objects: readonly StoredObject[]
}

interface Gate {
  /** The state that watches and cached lists return; `undefined` when not frozen. */
  frozen: FrozenView | undefined
  /** Number of events to drop. */
  skip: number
  readonly listeners: Set<(event: StoreEvent) => void>
  readonly detach: () => void
}

/** All open watches of a cluster. */
export class WatchHub {
  readonly #store: Store
  readonly #gates = new Map<string, Gate>()
  readonly #watchers = new Set<Watcher>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Open watches, of one collection or of all. */
  watchers(collection?: string): readonly Watcher[] {
    const all = [...this.#watchers]
    return collection === undefined ? all : all.filter((watcher) => watcher.collection === collection)
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher)
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher)
  }

  /**
   * Calls `listener` for later events of `collection` that are visible to watches. Returns the unsubscribe function.
   */
  listen(collection: string, listener: (event: StoreEvent) => void): () => void {
    const gate = this.#gate(collection)
    gate.listeners.add(listener)
    return () => {
      gate.listeners.delete(listener)
      if (gate.listeners.size === 0 && gate.frozen === undefined && gate.skip === 0) {
        gate.detach()
        this.#gates.delete(collection)
      }
    }
  }

  /** The newest revision visible to watches of `collection`. */
  visibleRevision(collection: string): number {
    return this.#gates.get(collection)?.frozen?.revision ?? this.#store.revision
  }

  /** The objects of `collection` as they were at {@link visibleRevision}, in key order. */
  visibleObjects(collection: string, prefix: string): Iterable<StoredObject> {
    const frozen = this.#gates.get(collection)?.frozen
    if (frozen === undefined) return this.#store.range(collection, { prefix })
    return frozen.objects.filter(({ key }) => key.startsWith(prefix))
  }

  /**
   * Delays events of `collection` after `revision`; writes and consistent reads continue.
   *
   * *Errors*: a RangeError when the store no longer remembers that revision.
   */
  freeze(collection: string, revision = this.#store.revision): void {
    const gate = this.#gate(collection)
    if (gate.frozen !== undefined) return
    const objects = this.#store.rangeAt(collection, revision)
    if (objects === undefined) throw new RangeError(`revision ${revision} of ${collection} is no longer remembered`)
    gate.frozen = { revision, objects: [...objects] }
  }

  /**
   * Delivers delayed events, in order, and stops delaying. If the store has discarded some of them, the watches
   * end, and their clients list again.
   */
  thaw(collection: string): void {
    const gate = this.#gates.get(collection)
    if (gate?.frozen === undefined) return
    const held = this.#store.eventsSince(collection, gate.frozen.revision)
    gate.frozen = undefined
    if (held === undefined) for (const watcher of this.watchers(collection)) watcher.end()
    else for (const event of held) this.#deliver(gate, event)
  }

  /** Drops the next `count` events of `collection` for every watch. */
  skipNext(collection: string, count: number): void {
    this.#gate(collection).skip += count
  }

  #gate(collection: string): Gate {
    let gate = this.#gates.get(collection)
    if (gate === undefined) {
      const detach = this.#store.listen(collection, (event) => this.#receive(collection, event))
      gate = { frozen: undefined, skip: 0, listeners: new Set(), detach }
      this.#gates.set(collection, gate)
    }
    return gate
  }

  #receive(collection: string, event: StoreEvent): void {
    const gate = this.#gates.get(collection)
    // While frozen, events are not kept here: the store's log has them.
    if (gate === undefined || gate.frozen !== undefined) return
    this.#deliver(gate, event)
  }

  #deliver(gate: Gate, event: StoreEvent): void {
    if (gate.skip > 0) {
      gate.skip -= 1
      return
    }
    for (const listener of gate.listeners) listener(event)
  }
}
