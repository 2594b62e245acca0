/**
 * Limits an asynchronous operation by the injected clock. `@reeve/kube` has the same for clients. This package does not
 * import it: a server that shares code with its clients can share their mistakes.
 */
import type { Clock } from '../clock.ts'

/** The operation exceeded its timeout. */
export class DeadlineExceeded extends Error {
  readonly code = 'DEADLINE_EXCEEDED'

  constructor() {
    super('context deadline exceeded')
    this.name = 'DeadlineExceeded'
  }
}

/**
 * Runs `action` with a signal that aborts when `timeoutMs` have passed on `clock` or `parent` aborts, and rejects at
 * that moment even if `action` ignores the signal: with `DeadlineExceeded`, or with the reason of `parent`.
 */
export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  parent: AbortSignal,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent.throwIfAborted()
  const own = new AbortController()
  const onParentAbort = () => own.abort(parent.reason)
  parent.addEventListener('abort', onParentAbort, { once: true })
  const timer = clock.schedule(timeoutMs, () => own.abort(new DeadlineExceeded()))
  const cut = Promise.withResolvers<never>()
  own.signal.addEventListener('abort', () => cut.reject(own.signal.reason), { once: true })
  try {
    return await Promise.race([action(own.signal), cut.promise])
  } finally {
    timer.cancel()
    parent.removeEventListener('abort', onParentAbort)
  }
}
