/** A point in time after which waiting ends, as a signal. */
import type { Clock, Timer } from '@reeve/kube'
import { RuntimeError } from '../runtime-error.ts'

/**
 * Aborts its signal `ms` from now on `clock`. Dispose of it, or the timer stays.
 *
 * @example
 * using deadline = new Deadline(clock, 5_000, 'closing the server')
 * await server.closed(deadline.signal)
 */
export class Deadline implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: Timer

  /** @param what is taking too long, for the reason of the abort */
  constructor(clock: Clock, ms: number, what: string) {
    const expire = () => this.#controller.abort(new RuntimeError('DEADLINE', `${what} took longer than ${ms} ms`))
    this.#timer = clock.schedule(Math.max(0, ms), expire)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  [Symbol.dispose](): void {
    this.#timer.cancel()
  }
}

/**
 * Waits for `promise`, but not longer than until `signal` aborts; then rejects with its reason. The promise goes on.
 *
 * @example
 * await untilAborted(server.closed, deadline.signal)
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
