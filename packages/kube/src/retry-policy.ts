/** Decides whether a failed request is retried, and how often. */
import type { RetryLimits } from '@reeve/http'
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

/** The limits of a client, with defaults. */
export function retryLimits(options: RetryOptions): RetryLimits {
  return {
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    baseDelayMs: options.baseDelayMs ?? DEFAULT_RETRY_BASE_DELAY_MS,
    maxDelayMs: options.maxDelayMs ?? DEFAULT_RETRY_MAX_DELAY_MS,
  }
}

/**
 * The delay that the server requested before the next attempt, 0 for none, or `undefined` when the failure is final.
 *
 * *Guarantees*: a request that is not idempotent is only retried when the server cannot have processed it: it was never
 * reached, it was overloaded (429), or it responded with `Retry-After`.
 *
 * @param isIdempotent whether processing the request twice has the same effect as processing it once
 */
export function requestedDelayMs(error: unknown, isIdempotent: boolean): number | undefined {
  if (!isWorthRetrying(error, isIdempotent)) return undefined
  return error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
}

function isWorthRetrying(error: unknown, isIdempotent: boolean): boolean {
  if (error instanceof ConnectionError) return isIdempotent || error.phase === 'connect'
  if (!(error instanceof ApiError)) return false
  // An eviction that a disruption budget forbids is not an overload of the server.
  if (hasCause(error, 'DisruptionBudget')) return false
  if (error.status === 429) return true
  if (error.status < 500) return false
  return error.retryAfterMs !== undefined || (isIdempotent && [502, 503, 504].includes(error.status))
}
