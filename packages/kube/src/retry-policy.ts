/** Decides whether a failed request is retried, and after which delay. */
import { DEFAULT_MAX_RETRIES, DEFAULT_RETRY_BASE_DELAY_MS, DEFAULT_RETRY_MAX_DELAY_MS } from './defaults.ts'
import { hasCause } from './error-predicates.ts'
import { ApiError, ConnectionError } from './errors.ts'

/** Options of retries. */
export interface RetryOptions {
  /** Retries after the first attempt. @default 4; 0 never retries */
  readonly maxRetries?: number
  /** First delay; doubles with every attempt, and half of it is random. @default 250 */
  readonly baseDelayMs?: number
  /** Longest delay chosen by the client; a server's `Retry-After` may be longer. @default 5_000 */
  readonly maxDelayMs?: number
}

/** Inputs of the decision. */
export interface FailedTry {
  readonly error: unknown
  /** 0 for the first attempt. */
  readonly attempt: number
  /** Whether processing the request twice has the same effect as processing it once. */
  readonly isIdempotent: boolean
}

/**
 * The delay before the next attempt, or `undefined` when the failure is final.
 *
 * *Guarantees*: a request that is not idempotent is only retried when the server cannot have processed it: it was never
 * reached, it was overloaded (429), or it responded with `Retry-After`.
 */
export function retryDelayMs(failed: FailedTry, options: RetryOptions, random: () => number): number | undefined {
  const { maxRetries = DEFAULT_MAX_RETRIES } = options
  if (failed.attempt >= maxRetries || !isWorthRetrying(failed)) return undefined
  const { baseDelayMs = DEFAULT_RETRY_BASE_DELAY_MS, maxDelayMs = DEFAULT_RETRY_MAX_DELAY_MS } = options
  const backoffMs = Math.min(maxDelayMs, baseDelayMs * 2 ** failed.attempt)
  const chosenMs = backoffMs * (0.5 + random() * 0.5)
  const askedMs = failed.error instanceof ApiError ? (failed.error.retryAfterMs ?? 0) : 0
  // Never earlier than requested, with some jitter, so that clients do not all retry at the same instant.
  return Math.ceil(Math.max(chosenMs, askedMs + askedMs * random() * 0.1))
}

function isWorthRetrying({ error, isIdempotent }: FailedTry): boolean {
  if (error instanceof ConnectionError) return isIdempotent || error.phase === 'connect'
  if (!(error instanceof ApiError)) return false
  // An eviction that a disruption budget forbids is not an overload of the server.
  if (hasCause(error, 'DisruptionBudget')) return false
  if (error.status === 429) return true
  if (error.status < 500) return false
  return error.retryAfterMs !== undefined || (isIdempotent && [502, 503, 504].includes(error.status))
}
