/** Bounds how many volumes are published and unpublished concurrently. */
import { STATUS, StatusError } from '../grpc/status-error.ts'

/** The limit without a setting. */
const DEFAULT_MAX_REQUESTS = 20

/**
 * Rejects calls beyond a limit instead of queueing them: the kubelet repeats them with growing delays, and a queue would
 * take memory in a container that has little.
 *
 * @example
 * const limiter = new RequestLimiter(20)
 * await limiter.run(() => publish(volume))
 */
export class RequestLimiter {
  readonly #limit: number
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Runs `work` if a slot is free. *Errors*: `RESOURCE_EXHAUSTED` otherwise. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) {
      throw new StatusError(STATUS.resourceExhausted, `more than ${this.#limit} volumes concurrently; try again`)
    }
    this.#running++
    try {
      return await work()
    } finally {
      this.#running--
    }
  }
}

/** The limit of the setting `GRPC_MAX_REQUESTS_LIMIT`; the default if it is not a number of 32 bits. */
export function maxRequests(setting: string | undefined): number {
  const value = Number(setting)
  return /^[+-]?\d+$/.test(setting ?? '') && Math.abs(value) < 2 ** 31 ? value : DEFAULT_MAX_REQUESTS
}
