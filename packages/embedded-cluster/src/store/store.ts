/**
 * All objects of the cluster in memory, under one revision counter.
 *
 * *Guarantees.* Every committed write increments the revision by one and is visible to reads and then delivered to
 * listeners, in revision order. So does every {@link Store.expire}, of which listeners hear nothing. A write that expects another revision than the live one changes nothing. Returned
 * objects are deeply frozen.
 */
import type { Clock } from '../clock.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'
import { Collection, type Range } from './collection.ts'
import { EventLog, type EventWindow, StoreEvent } from './event-log.ts'
import { deepFreeze, StoredObject } from './stored-object.ts'

/** The record that the journal of a persistent store receives before a write is acknowledged. */
export interface CommitRecord {
  readonly revision: number
  /** Empty if only the revision advanced. */
  readonly collection: string
  readonly key: string
  /** Absent when the object was deleted. */
  readonly object: JsonObject | undefined
}

/** One write. */
export interface Commit {
  readonly collection: string
  readonly key: string
  /** The live revision from which this write was computed; 0 when the object must not exist yet. */
  readonly expected: number
  /** The new state without its resourceVersion, or `undefined` to delete. */
  readonly object: JsonObject | undefined
}

/** Options of {@link Store}. */
export interface StoreOptions {
  readonly clock: Clock
  readonly window: EventWindow
  /** The maximum number of live objects; more are rejected. @default no maximum */
  readonly maxObjects?: number
  /** Called before a write becomes visible; throwing rejects the write. */
  readonly journal?: (record: CommitRecord) => void
}

/** How often {@link Store.expire} must be called while events reach their maximum age. */
export const EXPIRIES_PER_WINDOW = 5

/** The revisioned store. */
export class Store {
  readonly #clock: Clock
  readonly #journal: ((record: CommitRecord) => void) | undefined
  readonly #log: EventLog
  readonly #maxObjects: number
  readonly #collections = new Map<string, Collection>()
  readonly #listeners = new Map<string, Set<(event: StoreEvent) => void>>()
  readonly #everything = new Set<(event: StoreEvent) => void>()
  // Listeners may write. Their events are queued here, so that all listeners see the same order.
  readonly #undelivered: StoreEvent[] = []
  #isDelivering = false
  #revision = 1
  /** Revisions of the last calls of {@link expire}, oldest first. */
  readonly #expiries: number[] = []
  #oldestState = 0

  constructor(options: StoreOptions) {
    this.#clock = options.clock
    this.#journal = options.journal
    this.#log = new EventLog(options.window)
    this.#maxObjects = options.maxObjects ?? Number.POSITIVE_INFINITY
  }

  /** Revision of the last write. */
  get revision(): number {
    return this.#revision
  }

  /** States before this revision cannot be read. Watches may start there, if none of their events has been dropped. */
  get oldestState(): number {
    return this.#oldestState
  }

  get(collection: string, key: string): StoredObject | undefined {
    return this.#collections.get(collection)?.get(key)
  }

  /** Number of live objects in `collection`. */
  count(collection: string): number {
    return this.#collections.get(collection)?.size ?? 0
  }

  /** Live objects in key order. The result is a snapshot only until the next write. */
  range(collection: string, range?: Range): Iterable<StoredObject> {
    return this.#collections.get(collection)?.range(range) ?? []
  }

  /** Objects as they were at `revision`, in key order; `undefined` when the history has been discarded. */
  rangeAt(collection: string, revision: number, range: Range = {}): Iterable<StoredObject> | undefined {
    if (this.#isForgotten(collection, revision)) return undefined
    const later = this.#log.since(collection, revision)
    if (later.length === 0) return this.range(collection, range)
    const { prefix = '', after } = range
    const before = new Map<string, StoredObject | undefined>()
    for (const event of later) if (!before.has(event.key)) before.set(event.key, event.previous)
    const objects = [...this.range(collection, range)].filter((stored) => !before.has(stored.key))
    for (const [key, stored] of before) {
      if (stored !== undefined && key.startsWith(prefix) && (after === undefined || key > after)) objects.push(stored)
    }
    return objects.sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  /** The object at `revision`; `'forgotten'` when the history has been discarded. */
  getAt(collection: string, key: string, revision: number): StoredObject | undefined | 'forgotten' {
    if (this.#isForgotten(collection, revision)) return 'forgotten'
    const change = this.#log.since(collection, revision).find((event) => event.key === key)
    return change === undefined ? this.get(collection, key) : change.previous
  }

  /**
   * Performs a write, or returns `'conflict'` when the live object is not the expected one.
   *
   * *Errors*: {@link StatusError} 500 when the store is full, as a real server responds when etcd is.
   */
  commit(commit: Commit): StoredObject | 'conflict' {
    const { collection, key, expected, object } = commit
    const live = this.get(collection, key)
    if ((live?.revision ?? 0) !== expected) return 'conflict'
    const base = object ?? live?.object
    if (base === undefined) return 'conflict'
    if (live === undefined && this.#isFull()) {
      const message = `the cluster has ${this.#maxObjects} objects and cannot store more: delete some, or raise maxObjects`
      throw new StatusError(500, 'InternalError', message)
    }
    const revision = this.#revision + 1
    const current = new StoredObject(key, deepFreeze(withResourceVersion(base, revision)), revision)
    this.#journal?.({ revision, collection, key, object: object === undefined ? undefined : current.object })
    this.#revision = revision
    if (object === undefined) this.#collection(collection).delete(key)
    else this.#collection(collection).set(current)
    const type = object === undefined ? 'DELETED' : live === undefined ? 'ADDED' : 'MODIFIED'
    this.#publish(new StoreEvent({ type, collection, revision, time: this.#clock.now(), current, previous: live }))
    return current
  }

  /** Restores an object from a journal, with its revision. Listeners are not called. */
  restore(record: CommitRecord): void {
    this.#revision = Math.max(this.#revision, record.revision)
    this.#log.compact(this.#revision)
    if (record.collection === '') return
    if (record.object === undefined) this.#collection(record.collection).delete(record.key)
    else {
      const stored = new StoredObject(record.key, deepFreeze(record.object), record.revision)
      this.#collection(record.collection).set(stored)
    }
  }

  /** Events of `collection` after `revision`; `undefined` when some of them have been discarded. */
  eventsSince(collection: string, revision: number): readonly StoreEvent[] | undefined {
    if (revision < this.#log.floor(collection)) return undefined
    return this.#log.since(collection, revision)
  }

  /** Calls `listener` for every later event of `collection`. Returns the function that unsubscribes. */
  listen(collection: string, listener: (event: StoreEvent) => void): () => void {
    let listeners = this.#listeners.get(collection)
    if (listeners === undefined) {
      listeners = new Set()
      this.#listeners.set(collection, listeners)
    }
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  /** Calls `listener` for every later event of every collection. */
  listenToAll(listener: (event: StoreEvent) => void): () => void {
    this.#everything.add(listener)
    return () => this.#everything.delete(listener)
  }

  /** Discards all history up to now: older watches, continue tokens and exact reads get 410. */
  compact(): void {
    this.#log.compact(this.#revision)
  }

  /**
   * Discards history by age; called {@link EXPIRIES_PER_WINDOW} times per window, while clients hold tokens of it. The revision advances like that of etcd,
   * in which an API server notes each compaction: a list of a cluster in which nothing changes can expire too, and a new
   * list then has another revision. The journal must know it, or the next write after a restart would get a revision that
   * clients have seen already, and their watches would miss it.
   *
   * *Errors*: those of the journal; then nothing has changed.
   */
  expire(): void {
    const revision = this.#revision + 1
    this.#journal?.({ revision, collection: '', key: '', object: undefined })
    this.#revision = revision
    this.#log.trim(this.#clock.now())
    this.#expiries.push(revision)
    if (this.#expiries.length > EXPIRIES_PER_WINDOW) this.#oldestState = this.#expiries.shift() ?? 0
  }

  /** Every live object, for a snapshot. */
  *live(): Generator<CommitRecord> {
    for (const [collection, objects] of this.#collections) {
      for (const { key, revision, object } of objects.range()) yield { revision, collection, key, object }
    }
  }

  /** Names of the collections that contain, or once contained, objects. */
  collections(): readonly string[] {
    return [...this.#collections.keys()]
  }

  #isForgotten(collection: string, revision: number): boolean {
    return revision < Math.max(this.#oldestState, this.#log.floor(collection))
  }

  #isFull(): boolean {
    let count = 0
    for (const { size } of this.#collections.values()) count += size
    return count >= this.#maxObjects
  }

  #collection(name: string): Collection {
    let collection = this.#collections.get(name)
    if (collection === undefined) {
      collection = new Collection()
      this.#collections.set(name, collection)
    }
    return collection
  }

  #publish(event: StoreEvent): void {
    this.#log.append(event)
    this.#undelivered.push(event)
    if (this.#isDelivering) return
    this.#isDelivering = true
    try {
      for (let next = this.#undelivered.shift(); next !== undefined; next = this.#undelivered.shift()) {
        for (const listener of this.#listeners.get(next.collection) ?? []) listener(next)
        for (const listener of this.#everything) listener(next)
      }
    } finally {
      this.#isDelivering = false
    }
  }
}

/** The order in which the real server encodes them, which is familiar to readers. */
const metadataOrder = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]

/** Kind and apiVersion first, then metadata, as in responses of the real server. */
function withResourceVersion(object: JsonObject, revision: number): JsonObject {
  const { kind, apiVersion, metadata, ...rest } = object
  const fields: JsonObject = { ...(isJsonObject(metadata) ? metadata : {}), resourceVersion: String(revision) }
  const ordered: JsonObject = {}
  for (const field of metadataOrder) if (fields[field] !== undefined) ordered[field] = fields[field]
  for (const field in fields)
    if (!Object.hasOwn(ordered, field) && fields[field] !== undefined) ordered[field] = fields[field]
  return { kind, apiVersion, metadata: ordered, ...rest }
}
