/** Objects by key, with indexes that are built on first use. */
import { formatKey, type KubeObject, type Stored } from '@reeve/kube'

/** The values under which an object is found in an index; none when it does not belong there. */
export type Indexer<T extends KubeObject> = (object: Stored<T>) => readonly string[]

/** Index of every informer: by `metadata.namespace`. */
export const NAMESPACE_INDEX = 'namespace'

/** Index of every informer: by the uid of each owner. */
export const OWNER_INDEX = 'owner'

interface Index<T extends KubeObject> {
  readonly indexer: Indexer<T>
  /** Undefined until the first read: an index that is never read costs nothing. */
  keys: Map<string, Set<string>> | undefined
}

/**
 * A map of objects with secondary indexes.
 *
 * *Assumption*: objects are immutable, so an indexer returns the same values when an object is removed as when it was
 * added.
 */
export class ObjectStore<T extends KubeObject> {
  readonly #objects = new Map<string, Stored<T>>()
  readonly #indexes = new Map<string, Index<T>>([
    [NAMESPACE_INDEX, { indexer: ({ metadata }) => [metadata.namespace ?? ''], keys: undefined }],
    [
      OWNER_INDEX,
      { indexer: ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? [], keys: undefined },
    ],
  ])

  get size(): number {
    return this.#objects.size
  }

  get(key: string): Stored<T> | undefined {
    return this.#objects.get(key)
  }

  keys(): Iterable<string> {
    return this.#objects.keys()
  }

  values(): Iterable<Stored<T>> {
    return this.#objects.values()
  }

  set(key: string, object: Stored<T>): void {
    const previous = this.#objects.get(key)
    if (previous === object) return
    this.#objects.set(key, object)
    for (const index of this.#indexes.values()) {
      if (index.keys === undefined) continue
      if (previous !== undefined) removeFrom(index, key, previous)
      addTo(index, key, object)
    }
  }

  delete(key: string): void {
    const previous = this.#objects.get(key)
    if (previous === undefined) return
    this.#objects.delete(key)
    for (const index of this.#indexes.values()) removeFrom(index, key, previous)
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name)
  }

  /** Declares an index; an equal name keeps the first indexer. */
  addIndex(name: string, indexer: Indexer<T>): void {
    if (!this.#indexes.has(name)) this.#indexes.set(name, { indexer, keys: undefined })
  }

  /** The objects under `value`, in no particular order. Unknown indexes hold nothing. */
  byIndex(name: string, value: string): Stored<T>[] {
    const index = this.#indexes.get(name)
    if (index === undefined) return []
    index.keys ??= this.#build(index.indexer)
    const found: Stored<T>[] = []
    for (const key of index.keys.get(value) ?? []) {
      const object = this.#objects.get(key)
      if (object !== undefined) found.push(object)
    }
    return found
  }

  #build(indexer: Indexer<T>): Map<string, Set<string>> {
    const index: Index<T> = { indexer, keys: new Map() }
    for (const object of this.#objects.values()) addTo(index, formatKey(object.metadata), object)
    return index.keys ?? new Map()
  }
}

function addTo<T extends KubeObject>(index: Index<T>, key: string, object: Stored<T>): void {
  for (const value of index.indexer(object)) {
    const keys = index.keys?.get(value)
    if (keys === undefined) index.keys?.set(value, new Set([key]))
    else keys.add(key)
  }
}

function removeFrom<T extends KubeObject>(index: Index<T>, key: string, object: Stored<T>): void {
  if (index.keys === undefined) return
  for (const value of index.indexer(object)) {
    const keys = index.keys.get(value)
    keys?.delete(key)
    if (keys?.size === 0) index.keys.delete(value)
  }
}
