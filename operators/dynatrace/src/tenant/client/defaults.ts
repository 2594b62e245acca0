/** Every default of the tenant client in one place. */

/** How tenants and registries know this operator. */
export const USER_AGENT = 'dynatrace-operator'

/** Limits of calls. */
export const CLIENT_DEFAULTS = Object.freeze({
  /** For a call whose response is a document, retries included. */
  callTimeoutMs: 60_000,
  /** For a download, retries included. */
  downloadTimeoutMs: 15 * 60_000,
  /** Bytes of an unreadable error body that are quoted. */
  quotedErrorBytes: 1_000,
  /** The largest error body that is read. */
  maxErrorBytes: 256 * 1024,
})

/** The variable that changes how much of an unreadable error body is quoted. */
const ERROR_LENGTH_VARIABLE = 'DT_CLIENT_API_ERROR_LOG_LEN'

/**
 * How much of an unreadable error body to quote; anything but a positive integer counts as absent.
 *
 * @example
 * quotedErrorBytes({ DT_CLIENT_API_ERROR_LOG_LEN: '6' }) // 6
 */
export function quotedErrorBytes(env: Readonly<Record<string, string | undefined>>): number {
  const value = env[ERROR_LENGTH_VARIABLE] ?? ''
  return /^\+?\d+$/.test(value) && Number(value) > 0 ? Number(value) : CLIENT_DEFAULTS.quotedErrorBytes
}
