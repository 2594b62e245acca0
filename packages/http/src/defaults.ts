/** Every default of the outbound HTTP client in one place. */

/** Limits of one connection and one request. */
export const HTTP_DEFAULTS = Object.freeze({
  /** To connect, the TLS handshake included. */
  connectTimeoutMs: 30_000,
  /** Until a response begins; the deadline of the call is usually shorter. */
  headersTimeoutMs: 300_000,
  /** Longest silence in the middle of a response, downloads included. */
  bodyTimeoutMs: 60_000,
  /** Hosts with open connections at the same time. */
  maxOrigins: 16,
  maxRedirects: 10,
  /** Largest response that is read into memory. */
  maxAnswerBytes: 64 * 1024 * 1024,
  userAgent: 'reeve',
})

/** How persistent a call is. */
export interface RetryPolicy {
  /** Tries after the first; 0 never repeats. */
  readonly maxRetries: number
  /** First delay; doubles with every try, and half of it is random. */
  readonly baseDelayMs: number
  /** Longest delay that the client chooses itself. */
  readonly maxDelayMs: number
  /** A `Retry-After` above this is not waited for: the failure is reported with it. */
  readonly maxRetryAfterMs: number
}

/** Two retries within a few seconds: in a longer outage controllers retry anyway. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = Object.freeze({
  maxRetries: 2,
  baseDelayMs: 250,
  maxDelayMs: 2_000,
  maxRetryAfterMs: 5_000,
})
