/** Recent events per resource: watches resume from it, and old revisions are reconstructed from it. */
import type { JsonObject } from '../json.ts'
import type { StoredObject } from './stored-object.ts'

const encoder = new TextEncoder()
const lineEnd = encoder.encode('}\n')

/** A committed write. */
export class StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly collection: string
  readonly revision: number
  /** When it was committed, in milliseconds. */
  readonly time: number
  /** The new state; for DELETED the last state, with the revision of the deletion. */
  readonly current: StoredObject
  readonly previous: StoredObject | undefined
  readonly #lines = new Map<string, Uint8Array>()

  constructor(fields: Pick<StoreEvent, 'type' | 'collection' | 'revision' | 'time' | 'current' | 'previous'>) {
    this.type = fields.type
    this.collection = fields.collection
    this.revision = fields.revision
    this.time = fields.time
    this.current = fields.current
    this.previous = fields.previous
  }

  get key(): string {
    return this.current.key
  }

  /**
   * One line of a watch stream, encoded once per event type and shared by all watchers. `view` names another
   * representation of the object (a version, metadata only) created by `render`, which is cached in the same way.
   */
  line(type: string, view = '', render?: (object: JsonObject) => JsonObject): Uint8Array {
    const cacheKey = `${type} ${view}`
    let line = this.#lines.get(cacheKey)
    if (line === undefined) {
      const json =
        render === undefined ? this.current.json : encoder.encode(JSON.stringify(render(this.current.object)))
      line = watchLine(type, json)
      this.#lines.set(cacheKey, line)
    }
    return line
  }
}

/** `{"type":…,"object":…}` and a newline, around encoded JSON. */
export function watchLine(type: string, json: Uint8Array): Uint8Array {
  const start = encoder.encode(`{"type":"${type}","object":`)
  const line = new Uint8Array(start.length + json.length + lineEnd.length)
  line.set(start, 0)
  line.set(json, start.length)
  line.set(lineEnd, start.length + json.length)
  return line
}

/** How much history is kept. */
export interface EventWindow {
  /** Maximum number of events over all resources. */
  readonly maxEvents: number
  /** Older events are dropped when the next one arrives, and at intervals. */
  readonly maxAgeMs: number
}

/** A bounded log. The oldest events are dropped first, and each resource tracks up to which revision. */
export class EventLog {
  readonly #window: EventWindow
  readonly #all = new Queue<StoreEvent>()
  readonly #byCollection = new Map<string, Queue<StoreEvent>>()
  readonly #floors = new Map<string, number>()
  #globalFloor = 0

  constructor(window: EventWindow) {
    this.#window = window
  }

  get length(): number {
    return this.#all.length
  }

  append(event: StoreEvent): void {
    this.#all.push(event)
    let events = this.#byCollection.get(event.collection)
    if (events === undefined) {
      events = new Queue()
      this.#byCollection.set(event.collection, events)
    }
    events.push(event)
    this.trim(event.time)
  }

  /** Drops the events that are outside the window at `now`. */
  trim(now: number): void {
    const oldestAllowed = now - this.#window.maxAgeMs
    for (let first = this.#all.first; first !== undefined; first = this.#all.first) {
      if (this.#all.length <= this.#window.maxEvents && first.time >= oldestAllowed) break
      this.#all.shift()
      this.#byCollection.get(first.collection)?.shift()
      this.#floors.set(first.collection, first.revision)
    }
  }

  /** The oldest revision from which the events of `collection` are complete. */
  floor(collection: string): number {
    return Math.max(this.#globalFloor, this.#floors.get(collection) ?? 0)
  }

  /** Events of `collection` after `revision`, oldest first. Complete only from {@link floor} on. */
  since(collection: string, revision: number): readonly StoreEvent[] {
    return this.#byCollection.get(collection)?.after((event) => event.revision > revision) ?? []
  }

  /** Drops everything up to `revision`. */
  compact(revision: number): void {
    this.#globalFloor = Math.max(this.#globalFloor, revision)
    for (const queue of [this.#all, ...this.#byCollection.values()]) {
      for (let first = queue.first; first !== undefined && first.revision <= revision; first = queue.first)
        queue.shift()
    }
  }
}

/** A FIFO queue with a cheap `shift`: the front is trimmed in batches. */
class Queue<T> {
  #items: T[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  get first(): T | undefined {
    return this.#items[this.#head]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): void {
    this.#head += 1
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
  }

  /** All items from the first one that satisfies `isAfter`, which must be true for all later items too. */
  after(isAfter: (item: T) => boolean): readonly T[] {
    let low = this.#head
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const item = this.#items[middle]
      if (item !== undefined && isAfter(item)) high = middle
      else low = middle + 1
    }
    return this.#items.slice(low)
  }
}
