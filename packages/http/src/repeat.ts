/** Runs one call within its deadline, again and again where that is safe and within bounds. */
import { type Clock, sleep } from './clock.ts'
import { withDeadline } from './deadline.ts'
import { DEFAULT_RETRY_POLICY, type RetryLimits, type RetryPolicy } from './defaults.ts'
import { HttpConnectionError, HttpDeadlineError } from './http-error.ts'

/** What {@link retry} works with. */
export interface RetryLoopOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly signal?: AbortSignal | undefined
  /** For everything: tries, pauses, reading. */
  readonly timeoutMs: number
  readonly limits: RetryLimits
  /**
   * Whether a failure may be followed by another try, and the delay that the server requested before it, 0 for none.
   * `undefined` means that the failure is final.
   */
  readonly requestedDelayMs: (error: unknown) => number | undefined
  /** Creates the error for a timeout; `last` is the failure of the last try, if there was one. */
  readonly onTimeout: (last: unknown) => Error
  readonly onRetry?: ((error: unknown, attempt: number, delayMs: number) => void) | undefined
}

/**
 * The result of the first try that succeeds.
 *
 * *Guarantees*: never earlier than the server requests, never past the deadline: a failure whose delay ends after it is final.
 *
 * *Errors*: those of the last try; that of `onTimeout`; the reason of the caller's signal.
 *
 * @example
 * const pods = await retry({ ...bounds, requestedDelayMs: (error) => (isRetryable(error) ? 0 : undefined) }, list)
 */
export function retry<T>(
  options: RetryLoopOptions,
  work: (signal: AbortSignal, attempt: number) => Promise<T>,
): Promise<T> {
  const { clock, timeoutMs, signal: caller, onTimeout, onRetry } = options
  const endsAt = clock.now() + timeoutMs
  let last: unknown
  const bounds = { clock, timeoutMs, onTimeout: () => onTimeout(last), ...(caller && { signal: caller }) }
  return withDeadline(bounds, async (signal) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await work(signal, attempt)
      } catch (error) {
        signal.throwIfAborted()
        last = error
        const delayMs = retryDelayMs(error, attempt, options)
        // Waiting beyond the deadline would only replace a meaningful error by a timeout.
        if (delayMs === undefined || clock.now() + delayMs >= endsAt) throw error
        onRetry?.(error, attempt, delayMs)
        await sleep(delayMs, { clock, signal })
      }
    }
  })
}

/** The delay before the next try, or `undefined` when the failure is final. */
function retryDelayMs(error: unknown, attempt: number, options: RetryLoopOptions): number | undefined {
  const { limits, random, requestedDelayMs } = options
  if (attempt >= limits.maxRetries) return undefined
  const requestedMs = requestedDelayMs(error)
  if (requestedMs === undefined) return undefined
  const backoffMs = Math.min(limits.maxDelayMs, limits.baseDelayMs * 2 ** attempt) * (0.5 + random() * 0.5)
  // Never earlier than requested, with some jitter, so that clients do not all retry at the same instant.
  return Math.ceil(Math.max(backoffMs, requestedMs + requestedMs * random() * 0.1))
}

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
 * The result of the first try that succeeds, of a call to a server outside the cluster.
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
  const { what, timeoutMs, policy = DEFAULT_RETRY_POLICY } = options
  const onTimeout = (last: unknown) => new HttpDeadlineError(what, timeoutMs, last === undefined ? {} : { cause: last })
  return retry(
    { ...options, limits: policy, onTimeout, requestedDelayMs: (error) => requestedDelayMs(error, options, policy) },
    work,
  )
}

/** The delay that a failure demands, or `undefined` when it is final. */
function requestedDelayMs(error: unknown, options: RepeatOptions, policy: RetryPolicy): number | undefined {
  const { isRepeatable, refusalOf } = options
  if (error instanceof HttpConnectionError) {
    // The same password again would be refused again, and some proxies count.
    if (isFinalRefusal(error)) return undefined
    return isRepeatable || error.phase === 'connect' ? 0 : undefined
  }
  const refusal = refusalOf(error)
  if (refusal === undefined) return undefined
  const isTemporary = refusal.status === 429 || (isRepeatable && [502, 503, 504].includes(refusal.status))
  const askedMs = refusal.retryAfterMs ?? 0
  return isTemporary && askedMs <= policy.maxRetryAfterMs ? askedMs : undefined
}

function isFinalRefusal({ proxy }: HttpConnectionError): boolean {
  const { status = 0 } = proxy ?? {}
  return status >= 400 && status < 500
}
