/** The defaults of this package, with units in their names. */

/** Connections for ordinary requests; further requests wait for one. */
export const DEFAULT_CONNECTIONS = 32

/** Time to connect, including the TLS handshake. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 10_000

/** The server responds or times out within 60 s; longer silence means that the connection is dead. */
export const DEFAULT_HEADERS_TIMEOUT_MS = 70_000

/** Silence in the middle of an ordinary response. Watches have no such limit: silence is normal there. */
export const DEFAULT_BODY_TIMEOUT_MS = 30_000

/** Idle connections close before common load balancers (60 s and more) drop them. */
export const DEFAULT_KEEP_ALIVE_MS = 30_000

/** TCP keep-alive probes start after this much silence and detect a dead peer about 10 s later. */
export const DEFAULT_TCP_KEEP_ALIVE_MS = 15_000

/** Limits of requests to servers outside the cluster. */
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

/** How often a call is tried, and how long it waits in between. */
export interface RetryLimits {
  /** Tries after the first; 0 never repeats. */
  readonly maxRetries: number
  /** First delay; doubles with every try, and half of it is random. */
  readonly baseDelayMs: number
  /** Longest delay that the client chooses itself. */
  readonly maxDelayMs: number
}

/** How persistent a call to a server outside the cluster is. */
export interface RetryPolicy extends RetryLimits {
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
