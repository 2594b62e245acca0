/** One open watch: collects matching events, in order, in a bounded buffer that its reader empties. */
import type { Clock, Timer } from '../clock.ts'
import type { StoreEvent } from '../store/event-log.ts'
import { StoredObject } from '../store/stored-object.ts'
import type { Selection } from './selection.ts'
import type { WatchHub } from './watch-hub.ts'

/** An item to send. */
export type WatchItem =
  | { readonly kind: 'event'; readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly event: StoreEvent }
  | { readonly kind: 'object'; readonly type: 'ADDED' | 'DELETED'; readonly stored: StoredObject }
  | { readonly kind: 'bookmark'; readonly revision: number; readonly endsInitialEvents: boolean }

/** Options of {@link Watcher}. */
export interface WatcherOptions {
  readonly clock: Clock
  readonly hub: WatchHub
  readonly collection: string
  readonly selection: Selection
  /** The client has seen events up to this revision. */
  readonly afterRevision: number
  readonly sendsBookmarks: boolean
  readonly timeoutMs: number
  /** Maximum number of undelivered items; beyond it the watch is closed. */
  readonly maxBuffered: number
  readonly signal: AbortSignal | undefined
}

const BOOKMARK_INTERVAL_MS = 60_000
const LAST_BOOKMARK_MS = 2_000

/**
 * *Guarantees.* Items are strictly ordered by revision, without duplicates. A bookmark never overtakes an undelivered
 * event. When the reader is too slow the watch ends, and the client lists again: memory is bounded by the buffer.
 */
export class Watcher {
  readonly collection: string
  readonly #options: WatcherOptions
  readonly #items: WatchItem[] = []
  readonly #unsubscribe: () => void
  readonly #timers = new Set<Timer>()
  readonly #onAbort = () => this.end()
  #lastRevision: number
  #wake: (() => void) | undefined
  #isEnded = false
  #isSilent = false
  #failure: Error | undefined

  constructor(options: WatcherOptions) {
    this.collection = options.collection
    this.#options = options
    this.#lastRevision = options.afterRevision
    this.#unsubscribe = options.hub.listen(options.collection, (event) => this.offer(event))
    options.hub.add(this)
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#after(options.timeoutMs, () => this.end())
    if (options.sendsBookmarks) {
      this.#scheduleBookmark()
      if (options.timeoutMs > LAST_BOOKMARK_MS) this.#after(options.timeoutMs - LAST_BOOKMARK_MS, () => this.bookmark())
    }
    if (options.signal?.aborted === true) this.end()
  }

  /** Number of items that the reader has not taken yet. */
  get buffered(): number {
    return this.#items.length
  }

  /** Processes one committed write. */
  offer(event: StoreEvent): void {
    if (event.revision <= this.#lastRevision) return
    this.#lastRevision = event.revision
    const { selection } = this.#options
    const isSelected = event.type !== 'DELETED' && selection.matches(event.current)
    const wasSelected = event.previous !== undefined && selection.matches(event.previous)
    if (isSelected) this.push({ kind: 'event', type: wasSelected ? 'MODIFIED' : 'ADDED', event })
    else if (wasSelected && event.type === 'DELETED') this.push({ kind: 'event', type: 'DELETED', event })
    else if (wasSelected && event.previous !== undefined) {
      // The object no longer matches: its last visible state, at the revision of the change.
      this.push({ kind: 'object', type: 'DELETED', stored: atRevision(event.previous, event.revision) })
    }
  }

  /** Appends one item to the buffer, or closes the watch when the buffer is full. */
  push(item: WatchItem): void {
    if (this.#isEnded || this.#isSilent) return
    if (this.#items.length >= this.#options.maxBuffered) {
      this.#items.length = 0
      this.end()
      return
    }
    this.#items.push(item)
    this.#wake?.()
  }

  /** Informs the client of the current revision. */
  bookmark(): void {
    const revision = this.#options.hub.visibleRevision(this.collection)
    // The client has already seen a later revision, and bookmarks must not go backwards.
    if (revision < this.#options.afterRevision) return
    this.push({ kind: 'bookmark', revision: Math.max(revision, this.#lastRevision), endsInitialEvents: false })
  }

  /** Ends the stream after the buffered items. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#unsubscribe()
    this.#options.hub.remove(this)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
    this.#wake?.()
  }

  /** Ends the stream like a broken connection: the reader gets `error`, buffered items are lost. */
  fail(error: Error): void {
    this.#items.length = 0
    this.#failure = error
    this.end()
  }

  /** Keeps the stream open without sending anything, like a connection whose peer has disappeared. */
  silence(): void {
    this.#isSilent = true
    this.#items.length = 0
  }

  /** All buffered items, after waiting for the first one; `undefined` when the stream has ended. */
  async take(): Promise<readonly WatchItem[] | undefined> {
    while (this.#items.length === 0) {
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isEnded) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = undefined
    }
    return this.#items.splice(0)
  }

  #scheduleBookmark(): void {
    this.#after(BOOKMARK_INTERVAL_MS, () => {
      this.bookmark()
      if (!this.#isEnded) this.#scheduleBookmark()
    })
  }

  #after(delayMs: number, action: () => void): void {
    const timer = this.#options.clock.schedule(delayMs, () => {
      this.#timers.delete(timer)
      action()
    })
    this.#timers.add(timer)
  }
}

function atRevision(stored: StoredObject, revision: number): StoredObject {
  const metadata = typeof stored.object.metadata === 'object' ? stored.object.metadata : {}
  const object = { ...stored.object, metadata: { ...metadata, resourceVersion: String(revision) } }
  return new StoredObject(stored.key, object, revision)
}
