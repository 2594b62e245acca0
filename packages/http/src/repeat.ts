/** Runs one call within its deadline, again and again where that is safe and within bounds. */
import { type Clock, sleep } from './clock.ts'
import { withDeadline } from './deadline.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from './defaults.ts'
import { HttpConnectionError, HttpDeadlineError } from './http-error.ts'

/** What a refusal by a server says about trying again. */
export interface Refusal {
  readonly status: number
  /** From the `Retry-After` header. */
  readonly retryAfterMs: number | undefined
}

/** What {@link repeat} works with. */
export interface RepeatOptions {
  /** For the message when time runs out. */
  readonly what: string
  readonly clock: Clock
  readonly random: () => number
  readonly signal?: AbortSignal
  /** For everything: tries, pauses, reading. */
  readonly timeoutMs: number
  /** Whether the server may process the request twice safely. */
  readonly isRepeatable: boolean
  /** @default {@link DEFAULT_RETRY_POLICY} */
  readonly policy?: RetryPolicy
  /** What a refusal is, for this kind of server; `undefined` for every other error. */
  readonly refusalOf: (error: unknown) => Refusal | undefined
  readonly onRetry?: (error: unknown, attempt: number, delayMs: number) => void
}

/**
 * The result of the first try that succeeds.
 *
 * *Guarantees*
 * - What is not repeatable is repeated only when the server cannot have processed it: it was never reached, or it
 *   refused for overload (429).
 * - Never earlier than `Retry-After` asks; when that is later than policy or deadline allow, the failure is final.
 *
 * *Errors*: those of the last try; {@link HttpDeadlineError}; the reason of the caller's signal.
 */
export function repeat<T>(
  options: RepeatOptions,
  work: (signal: AbortSignal, attempt: number) => Promise<T>,
): Promise<T> {
  const { what, clock, timeoutMs, signal: outer } = options
  const endsAt = clock.now() + timeoutMs
  let last: unknown
  const onTimeout = () => new HttpDeadlineError(what, timeoutMs, last === undefined ? {} : { cause: last })
  return withDeadline({ clock, timeoutMs, onTimeout, ...(outer && { signal: outer }) }, async (signal) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work(signal, attempt)
      } catch (error) {
        signal.throwIfAborted()
        last = error
        const delayMs = retryDelayMs(error, attempt, options)
        if (delayMs === undefined || clock.now() + delayMs >= endsAt) throw error
        options.onRetry?.(error, attempt, delayMs)
        await sleep(delayMs, { clock, signal })
      }
    }
  })
}

/** The pause before the next try, or `undefined` when the failure is final. */
function retryDelayMs(error: unknown, attempt: number, options: RepeatOptions): number | undefined {
  const { policy = DEFAULT_RETRY_POLICY, random, isRepeatable } = options
  if (attempt >= policy.maxRetries) return undefined
  const backoffMs = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** attempt) * (0.5 + random() * 0.5)
  if (error instanceof HttpConnectionError) {
    // The same password again would be refused again, and some proxies count.
    if (isFinalRefusal(error)) return undefined
    return isRepeatable || error.phase === 'connect' ? Math.ceil(backoffMs) : undefined
  }
  const refusal = options.refusalOf(error)
  if (refusal === undefined) return undefined
  const isTemporary = refusal.status === 429 || (isRepeatable && [502, 503, 504].includes(refusal.status))
  const askedMs = refusal.retryAfterMs ?? 0
  if (!isTemporary || askedMs > policy.maxRetryAfterMs) return undefined
  // A little later than asked, so that clients do not all retry at the same instant.
  return Math.ceil(Math.max(backoffMs, askedMs * (1 + random() * 0.1)))
}

function isFinalRefusal({ proxy }: HttpConnectionError): boolean {
  const { status = 0 } = proxy ?? {}
  return status >= 400 && status < 500
}
