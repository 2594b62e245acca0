/** What the page knows of the operator: loaded once, then kept up to date by the stream. */
import { useEffect, useState } from 'preact/hooks'
import type { HealthSample, Overview, Reconcile, ResourceRow, StreamMessage } from '../../src/wire.ts'
import { ApiError, get, openStream, signOut } from './api.ts'

/** How the page stands with the operator. */
export type Connection = 'loading' | 'live' | 'lost' | 'signed-out'

/** How many reconciles the page keeps. */
const MAX_RECONCILES = 2_000
const MAX_SAMPLES = 450
const RETRY_MS = 1_000
const MAX_RETRY_MS = 10_000

/** The state of the page. Collections are replaced or marked by `revision`, so that views know what changed. */
export class Store {
  overview: Overview | undefined
  connection: Connection = 'loading'
  /** Why the user has to sign in. */
  hint = ''
  readonly rows = new Map<string, ResourceRow>()
  reconciles: Reconcile[] = []
  samples: HealthSample[] = []
  /** Grows with each change. */
  revision = 0
  readonly #listeners = new Set<() => void>()
  #closeStream: () => void = () => undefined
  #retryMs = RETRY_MS
  #scheduled = false

  /** Loads everything and follows the stream. */
  async start(): Promise<void> {
    this.#closeStream()
    try {
      const before = this.overview?.instance
      const [overview, rows, reconciles] = await Promise.all([
        get<Overview>('overview'),
        get<readonly ResourceRow[]>('resources'),
        get<readonly Reconcile[]>('reconciles'),
      ])
      this.overview = overview
      this.rows.clear()
      for (const row of rows) this.rows.set(row.id, row)
      this.reconciles = [...reconciles]
      if (before !== overview.instance) this.samples = []
      this.#follow()
    } catch (error) {
      this.#failed(error)
    }
    this.#changed()
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Ends the session; the page keeps nothing of what it showed. */
  async signOut(): Promise<void> {
    await signOut()
    this.#forget('You have signed out.')
  }

  /** Whether this replica leads may change at any time. */
  async readOverview(): Promise<void> {
    this.overview = await get<Overview>('overview')
    this.#changed()
  }

  /** For requests of views: a refusal concerns the whole page. */
  refused(error: unknown): string {
    if (error instanceof ApiError && error.status === 401) this.#failed(error)
    return error instanceof Error ? error.message : String(error)
  }

  #follow(): void {
    this.#closeStream = openStream({
      messages: (messages) => this.#receive(messages),
      opened: () => {
        this.#retryMs = RETRY_MS
        this.connection = 'live'
        this.#changed()
      },
      lost: () => {
        this.connection = 'lost'
        this.#changed()
        this.#retry()
      },
    })
  }

  #failed(error: unknown): void {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
      this.#forget(error.message)
      return
    }
    this.connection = 'lost'
    this.#retry()
  }

  #forget(hint: string): void {
    this.#closeStream()
    this.rows.clear()
    this.reconciles = []
    this.samples = []
    this.overview = undefined
    this.connection = 'signed-out'
    this.hint = hint
    this.#changed()
  }

  /** A restarted operator is noticed here: everything is loaded again. */
  #retry(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setTimeout(() => {
      this.#scheduled = false
      void this.start()
    }, this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS)
  }

  #receive(messages: readonly StreamMessage[]): void {
    for (const message of messages) {
      if (message.type === 'overflow') {
        void this.start()
        return
      }
      if (message.type === 'resource') this.rows.set(message.row.id, message.row)
      else if (message.type === 'gone') this.rows.delete(message.id)
      else if (message.type === 'reconcile') this.reconciles = [message.reconcile, ...this.reconciles]
      else if (message.type === 'sample') this.samples = [...this.samples, message.sample].slice(-MAX_SAMPLES)
    }
    if (this.reconciles.length > MAX_RECONCILES) this.reconciles = this.reconciles.slice(0, MAX_RECONCILES)
    this.#changed()
  }

  #changed(): void {
    this.revision += 1
    for (const listener of this.#listeners) listener()
  }
}

/** The store, and a new render with each of its changes. */
export function useStore(store: Store): Store {
  const [, setRevision] = useState(store.revision)
  useEffect(() => store.subscribe(() => setRevision(store.revision)), [store])
  return store
}
