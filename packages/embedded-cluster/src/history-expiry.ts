/** Discards history by age while clients hold tokens for it, also if nothing is written. */
import type { ClusterController } from './api/cluster-api.ts'
import type { Clock, Timer } from './clock.ts'
import { EXPIRIES_PER_WINDOW, type Store } from './store/store.ts'

/** A shorter window than five seconds is not worth a busy timer. */
const MIN_INTERVAL_MS = 1_000
/** Timers cannot be longer, so that a window of four months or more has no end. */
const MAX_INTERVAL_MS = 2 ** 31 - 1

/** Options of {@link HistoryExpiry}. */
export interface HistoryExpiryOptions {
  readonly store: Store
  readonly clock: Clock
  /** How long history is kept. */
  readonly maxAgeMs: number
  /** Called when the journal fails; the next attempt follows after the interval. */
  readonly onError: (error: unknown) => void
}

/**
 * Calls {@link Store.expire} at intervals. A real API server does so all the time; here a timer runs only while the state
 * of a token can still be read, so that an idle cluster has nothing to do.
 */
export class HistoryExpiry implements ClusterController {
  readonly name = 'history-expiry'
  readonly #options: HistoryExpiryOptions
  readonly #intervalMs: number
  #isStarted = false
  #timer: Timer | undefined
  /** The newest revision that a client may continue to read. */
  #held = 0

  constructor(options: HistoryExpiryOptions) {
    this.#options = options
    this.#intervalMs = Math.max(options.maxAgeMs / EXPIRIES_PER_WINDOW, MIN_INTERVAL_MS)
  }

  start(): void {
    this.#isStarted = true
  }

  async stop(): Promise<void> {
    this.#isStarted = false
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** A client got a token to continue to read the state of `revision`, which must expire. */
  hold(revision: number): void {
    this.#held = Math.max(this.#held, revision)
    if (this.#isStarted && this.#timer === undefined && this.#intervalMs <= MAX_INTERVAL_MS) this.#schedule()
  }

  #schedule(): void {
    const { clock, store, onError } = this.#options
    this.#timer = clock.schedule(this.#intervalMs, () => {
      this.#timer = undefined
      try {
        store.expire()
      } catch (error) {
        onError(error)
      }
      if (this.#held >= store.oldestState) this.#schedule()
    })
  }
}
