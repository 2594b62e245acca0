/** Notices a run that would never end, by what it asks of the cluster and by the time it takes. */
import { EXPLORATION_DEFAULTS } from '../defaults.ts'

/** Limits of one run. */
export interface RunLimits {
  /** Requests while not even a millisecond of virtual time passes. @default 5_000 */
  readonly maxRequestsAtOnce: number
  /** Requests of a whole run, renewals of leases included. @default 200_000 */
  readonly maxRequests: number
  /** Real time that a run may take. @default 5 minutes */
  readonly maxRealMs: number
}

/** Counts the requests of one run. */
export class RunBounds {
  readonly #limits: RunLimits
  readonly #realNow: () => number
  readonly #startedMs: number
  #requests = 0
  #requestsAtOnce = 0
  #instantMs = -1

  /** @param realNow milliseconds of real time */
  constructor(limits: RunLimits = EXPLORATION_DEFAULTS, realNow: () => number = () => performance.now()) {
    this.#limits = limits
    this.#realNow = realNow
    this.#startedMs = realNow()
  }

  /**
   * Counts a request; answers why the run has to end, or `undefined` while it may go on.
   *
   * @param atMs virtual milliseconds since the start of the run
   */
  count(atMs: number, request: string): string | undefined {
    const { maxRequestsAtOnce, maxRequests, maxRealMs } = this.#limits
    if (atMs !== this.#instantMs) this.#requestsAtOnce = 0
    this.#instantMs = atMs
    const at = `${(atMs / 1_000).toFixed(3)} s after the start, the last: ${request}`
    if (++this.#requestsAtOnce > maxRequestsAtOnce)
      return `the operator goes round in circles: more than ${maxRequestsAtOnce} requests at one instant, ${at}`
    if (++this.#requests > maxRequests) return `more than ${maxRequests} requests, ${at}`
    if (this.#realNow() - this.#startedMs > maxRealMs)
      return `the run takes more than ${maxRealMs / 1_000} s of real time; it came to ${at}`
    return undefined
  }
}
