/** Bounds a piece of work by a caller's signal and a deadline on the given clock. */
import type { Clock } from './clock.ts'

/** Longer timers fire at once on Node.js instead of in 25 days. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** What bounds the work. */
export interface DeadlineOptions {
  readonly clock: Clock
  readonly signal?: AbortSignal
  /** `Infinity` means no deadline. */
  readonly timeoutMs: number
  /** Makes the error for the case that time runs out. */
  readonly onTimeout: () => Error
}

/**
 * Runs `work` and settles as soon as it does, the signal aborts or the time is over. The work's own signal aborts in
 * the latter two cases, but nobody waits for the work to notice: a transport that hangs cannot hang its caller.
 */
export async function withDeadline<R>(options: DeadlineOptions, work: (signal: AbortSignal) => Promise<R>): Promise<R> {
  const { clock, signal, timeoutMs, onTimeout } = options
  signal?.throwIfAborted()
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const timer = timeoutMs > MAX_TIMER_MS ? undefined : clock.schedule(timeoutMs, () => controller.abort(onTimeout()))
  try {
    return await new Promise<R>((resolve, reject) => {
      controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
      work(controller.signal).then(resolve, reject)
    })
  } finally {
    timer?.cancel()
    signal?.removeEventListener('abort', onAbort)
  }
}
