/** Errors of the tenant client, one class per failure that a caller may handle. */
import type { Refusal } from '@reeve/http'

/** Stable codes of the errors of the tenant client; connections fail with the codes of `HttpError`. */
export type TenantErrorCode =
  | 'ENVIRONMENT_API'
  | 'ENVIRONMENT_UNREADABLE'
  | 'ENVIRONMENT_BAD_RESPONSE'
  | 'ENVIRONMENT_INVALID_CALL'

/** Base of these errors. No message ever contains a token. */
export abstract class TenantError extends Error {
  abstract readonly code: TenantErrorCode
}

/** One problem of a request, as the server reports it. */
export interface ConstraintViolation {
  readonly path: string
  readonly message: string
}

/** Why a server rejected a call. */
export interface ServerError {
  /** The code inside the body, which decides; it usually repeats the HTTP status. */
  readonly code: number
  readonly message: string
  readonly violations: readonly ConstraintViolation[]
  /** Scopes the token would need; only the platform API names them. */
  readonly missingScopes: readonly string[]
}

/** The server rejected a call and said why. */
export class TenantApiError extends TenantError implements Refusal {
  override readonly name = 'TenantApiError'
  override readonly code = 'ENVIRONMENT_API'
  readonly call: string
  /** HTTP status. */
  readonly status: number
  readonly server: ServerError
  readonly retryAfterMs: number | undefined
  /** Whether a 429 or 503 means "retry later"; false where callers treat it as a plain failure. */
  readonly countsAsUnavailable: boolean

  constructor(
    call: string,
    status: number,
    server: ServerError,
    options: { readonly retryAfterMs?: number; readonly countsAsUnavailable?: boolean } = {},
  ) {
    super(`${call}: ${describe(server)}`)
    this.call = call
    this.status = status
    this.server = server
    this.retryAfterMs = options.retryAfterMs
    this.countsAsUnavailable = options.countsAsUnavailable ?? true
  }
}

/** The server, or a proxy before it, rejected a call with an unreadable body. */
export class TenantUnreadableError extends TenantError implements Refusal {
  override readonly name = 'TenantUnreadableError'
  override readonly code = 'ENVIRONMENT_UNREADABLE'
  readonly call: string
  /** HTTP status. */
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(call: string, status: number, explanation: string, retryAfterMs?: number) {
    super(`${call}: HTTP status ${status}${explanation}`)
    this.call = call
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** The server responded with success, but the body does not match the schema. The message names the field. */
export class TenantResponseError extends TenantError {
  override readonly name = 'TenantResponseError'
  override readonly code = 'ENVIRONMENT_BAD_RESPONSE'
  readonly call: string

  constructor(call: string, problem: string) {
    super(`${call}: unexpected response: ${problem}`)
    this.call = call
  }
}

/** A call that makes no sense and was not sent. */
export class TenantCallError extends TenantError {
  override readonly name = 'TenantCallError'
  override readonly code = 'ENVIRONMENT_INVALID_CALL'

  constructor(call: string, problem: string) {
    super(`${call}: ${problem}`)
  }
}

/**
 * Whether the tenant is overloaded or in maintenance: not a configuration error, so a reconcile ends
 * without an error and is repeated.
 */
export function isTenantUnavailable(error: unknown): boolean {
  return error instanceof TenantApiError && error.countsAsUnavailable && [429, 503].includes(error.server.code)
}

/** Whether the server says that something does not exist: by its own code, or by the HTTP status. */
export function isTenantNotFound(error: unknown): boolean {
  if (error instanceof TenantApiError) return error.status === 404 || error.server.code === 404
  return error instanceof TenantUnreadableError && error.status === 404
}

/** The refusal behind an error, for the decision whether to try again. */
export function refusalOf(error: unknown): Refusal | undefined {
  return error instanceof TenantApiError || error instanceof TenantUnreadableError ? error : undefined
}

function describe({ code, message, violations, missingScopes }: ServerError): string {
  const head = code === 0 && message === '' ? 'unknown error' : `${code} ${message}`.trimEnd()
  const scopes = missingScopes.length === 0 ? '' : ` (missing scopes: ${missingScopes.join(', ')})`
  const details = violations.map(({ path, message }) => `\n  ${path === '' ? message : `${path}: ${message}`}`)
  return `${head}${scopes}${details.join('')}`
}
