/** Deletes Events an hour after their last change, so that a long-running cluster does not fill up with them. */

import type { ClusterController } from './api/cluster-api.ts'
import type { Clock, Timer } from './clock.ts'
import type { StoreEvent } from './store/event-log.ts'
import type { Store } from './store/store.ts'

const COLLECTION = 'events'
const LIFETIME_MS = 60 * 60_000
/** Events that expire at about the same time are deleted together. */
const GATHER_MS = 60_000

/** Deletes old events. A timer runs only while there are events. */
export class EventExpiry implements ClusterController {
  readonly name = 'event-expiry'
  readonly #store: Store
  readonly #clock: Clock
  /** When each event last changed, oldest first: a change moves it to the end. */
  readonly #changed = new Map<string, number>()
  #unsubscribe: (() => void) | undefined
  #timer: Timer | undefined

  constructor(store: Store, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  start(): void {
    if (this.#unsubscribe !== undefined) return
    for (const { key } of this.#store.range(COLLECTION)) this.#changed.set(key, this.#clock.now())
    this.#unsubscribe = this.#store.listen(COLLECTION, (event) => this.#observe(event))
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#timer?.cancel()
    this.#timer = undefined
    this.#changed.clear()
  }

  #observe(event: StoreEvent): void {
    this.#changed.delete(event.key)
    if (event.type !== 'DELETED') this.#changed.set(event.key, event.time)
    this.#schedule()
  }

  #schedule(): void {
    const [oldest] = this.#changed.values()
    if (this.#timer !== undefined || oldest === undefined) return
    const delayMs = Math.max(oldest + LIFETIME_MS + GATHER_MS - this.#clock.now(), 0)
    this.#timer = this.#clock.schedule(delayMs, () => {
      this.#timer = undefined
      this.#sweep()
      this.#schedule()
    })
  }

  #sweep(): void {
    const limit = this.#clock.now() - LIFETIME_MS
    for (const [key, time] of [...this.#changed]) {
      if (time > limit) return
      this.#changed.delete(key)
      const revision = this.#store.get(COLLECTION, key)?.revision
      if (revision !== undefined) {
        this.#store.commit({ collection: COLLECTION, key, expected: revision, object: undefined })
      }
    }
  }
}
