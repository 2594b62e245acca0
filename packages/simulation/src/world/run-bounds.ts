/** Detects a run that would never end, by its requests and by the time it takes. */
import { EXPLORATION_DEFAULTS } from '../defaults.ts'

/** Limits of one run. */
export interface RunLimits {
  /** Requests within a minute of virtual time. @default 2_000 */
  readonly maxRequestsPerMinute: number
  /** Requests of a whole run, renewals of leases included. @default 200_000 */
  readonly maxRequests: number
  /** Real time that a run may take. @default 5 minutes */
  readonly maxRealMs: number
}

const MINUTE_MS = 60_000

/** Taken before a world replaces it: the limit is one of real time. */
const realNow = performance.now.bind(performance)

/** Counts the requests of one run. */
export class RunBounds {
  readonly #limits: RunLimits
  readonly #realNow: () => number
  readonly #startedMs: number
  readonly #speed: number
  #requests = 0
  #requestsInMinute = 0
  #minute = -1

  /**
   * @param now milliseconds of real time
   * @param speed virtual milliseconds in one millisecond of the operator; reasons name times of the operator
   */
  constructor(limits: RunLimits = EXPLORATION_DEFAULTS, now: () => number = realNow, speed = 1) {
    this.#limits = limits
    this.#realNow = now
    this.#startedMs = now()
    this.#speed = speed
  }

  /**
   * Counts a request. Returns why the run must end, or `undefined` while it may continue.
   *
   * @param atMs virtual milliseconds since the start of the run
   * @param request describes the request, for the reason
   */
  count(atMs: number, request: () => string): string | undefined {
    const { maxRequestsPerMinute, maxRequests, maxRealMs } = this.#limits
    const minute = Math.floor(atMs / MINUTE_MS)
    if (minute !== this.#minute) this.#requestsInMinute = 0
    this.#minute = minute
    const at = () => `${(atMs / this.#speed / 1_000).toFixed(3)} s after the start, the last: ${request()}`
    if (++this.#requestsInMinute > maxRequestsPerMinute) {
      const period = this.#speed === 1 ? 'a minute' : `${MINUTE_MS / this.#speed / 1_000} s`
      return `hot loop: more than ${maxRequestsPerMinute} requests within ${period}, ${at()}`
    }
    if (++this.#requests > maxRequests) return `more than ${maxRequests} requests, ${at()}`
    if (this.#realNow() - this.#startedMs > maxRealMs)
      return `the run takes more than ${maxRealMs / 1_000} s of real time; it reached ${at()}`
    return undefined
  }
}
