/** Limits waiting by a deadline on a clock and by the signal of a caller. */
import type { Clock, Timer } from './clock.ts'

/** Longer timers fire immediately in Node.js instead of in 25 days. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** What ends the wait. */
export interface DeadlineOptions {
  readonly clock: Clock
  /** Also ends the wait, with its own reason. @default none */
  readonly signal?: AbortSignal
  /** Creates the error for a timeout. */
  readonly onTimeout: () => Error
}

/**
 * A signal that aborts `timeoutMs` from now, or with the caller's signal if that comes first. It must be disposed,
 * which removes the timer and the listener on the caller's signal.
 *
 * @example
 * using deadline = new Deadline(5_000, { clock, signal, onTimeout: () => new Error('the server did not close') })
 * await untilAborted(server.closed, deadline.signal)
 */
export class Deadline implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: Timer | undefined
  readonly #caller: AbortSignal | undefined
  readonly #onAbort = () => this.#end(this.#caller?.reason)
  readonly #onEnd: ((reason: unknown) => void) | undefined
  #hasPassed = false

  /**
   * @param timeoutMs with `Infinity` only the caller's signal ends the wait
   * @param onEnd called after the signal aborted, with its reason
   */
  constructor(timeoutMs: number, { clock, signal, onTimeout }: DeadlineOptions, onEnd?: (reason: unknown) => void) {
    this.#caller = signal
    this.#onEnd = onEnd
    if (signal?.aborted) {
      this.#onAbort()
      return
    }
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (timeoutMs > MAX_TIMER_MS) return
    this.#timer = clock.schedule(Math.max(0, timeoutMs), () => {
      if (this.#controller.signal.aborted) return
      this.#hasPassed = true
      this.#end(onTimeout())
    })
  }

  #end(reason: unknown): void {
    this.#controller.abort(reason)
    this.#onEnd?.(reason)
  }

  /** Aborts at the deadline, or when the caller's signal does. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the signal aborted because of the timeout. */
  get hasPassed(): boolean {
    return this.#hasPassed
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel()
    this.#caller?.removeEventListener('abort', this.#onAbort)
  }
}

/**
 * Waits for `promise`, but not longer than until `signal` aborts; then rejects with its reason. The work behind the
 * promise continues.
 *
 * @example
 * await untilAborted(server.closed, deadline.signal)
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    // Removed by hand: `finally` would make two more promises for every request.
    const onAbort = () => {
      signal.removeEventListener('abort', onAbort)
      reject(signal.reason)
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)
    promise.then(
      (value) => {
        signal.removeEventListener('abort', onAbort)
        resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', onAbort)
        reject(error)
      },
    )
  })
}

/**
 * Runs `work` and settles when it does, when the signal aborts or when the time is over. In the latter two cases the
 * signal of the work aborts, but its end is not awaited: a transport that hangs cannot block its caller.
 *
 * @example
 * await withDeadline({ clock, signal, timeoutMs: 5_000, onTimeout }, (bounded) => client.get(Pods, key, { signal: bounded }))
 */
export async function withDeadline<R>(
  options: DeadlineOptions & {
    /** `Infinity` means no deadline. */
    readonly timeoutMs: number
  },
  work: (signal: AbortSignal) => Promise<R>,
): Promise<R> {
  options.signal?.throwIfAborted()
  const ended = Promise.withResolvers<R>()
  // Called by the deadline itself, which costs less than a listener on its signal.
  using deadline = new Deadline(options.timeoutMs, options, ended.reject)
  work(deadline.signal).then(ended.resolve, ended.reject)
  return await ended.promise
}
