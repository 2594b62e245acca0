/** Questions a caller asks about an error, so that nobody compares messages or status numbers. */
import { ApiError, ConnectionError, DeadlineExceededError } from './errors.ts'

/** The server refused; narrows to {@link ApiError}. */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError
}

/** The object, or the whole resource, does not exist. */
export function isNotFound(error: unknown): error is ApiError {
  return hasHttpStatus(error, 404)
}

/** The path itself is not served: usually a CustomResourceDefinition that is not installed (yet). */
export function isNotServed(error: unknown): error is ApiError {
  return isNotFound(error) && (!error.hasStatus || error.details?.name === undefined)
}

/** Somebody else changed the object, a precondition failed, or another field manager owns a field. */
export function isConflict(error: unknown): error is ApiError {
  return hasHttpStatus(error, 409) && error.reason !== 'AlreadyExists'
}

/** A server-side apply touched fields that another manager owns; `causes` lists them. */
export function isApplyConflict(error: unknown): error is ApiError {
  return isConflict(error) && hasCause(error, 'FieldManagerConflict')
}

/** A create found an object of that name. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return hasHttpStatus(error, 409) && error.reason === 'AlreadyExists'
}

/** RBAC or admission refused. */
export function isForbidden(error: unknown): error is ApiError {
  return hasHttpStatus(error, 403)
}

/** A create was refused because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return isForbidden(error) && hasCause(error, 'NamespaceTerminating')
}

/** The server does not know who we are, after one refresh of the credentials. */
export function isUnauthorized(error: unknown): error is ApiError {
  return hasHttpStatus(error, 401)
}

/** The object failed validation; `causes` lists the fields. Sending it again will not help. */
export function isInvalid(error: unknown): error is ApiError {
  return hasHttpStatus(error, 422)
}

/** The request itself made no sense to the server. */
export function isBadRequest(error: unknown): error is ApiError {
  return hasHttpStatus(error, 400)
}

/** The resourceVersion or continue token is older than the server remembers: list again. */
export function isExpired(error: unknown): error is ApiError {
  return hasHttpStatus(error, 410) || (error instanceof ApiError && error.reason === 'Expired')
}

/** The same question as {@link isExpired}, under the name of the HTTP status. */
export function isGone(error: unknown): error is ApiError {
  return isExpired(error)
}

/** The server protects itself; `retryAfterMs` says for how long. */
export function isTooManyRequests(error: unknown): error is ApiError {
  return hasHttpStatus(error, 429)
}

/** The server gave up waiting, for example for its storage or for a newer resourceVersion. */
export function isServerTimeout(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 504 || ['ServerTimeout', 'Timeout'].includes(error.reason))
}

/** The object is larger than the server accepts. */
export function isRequestTooLarge(error: unknown): error is ApiError {
  return hasHttpStatus(error, 413)
}

/** The connection could not be made or broke. */
export function isConnectionError(error: unknown): error is ConnectionError {
  return error instanceof ConnectionError
}

/** The call's own deadline passed. */
export function isDeadlineExceeded(error: unknown): error is DeadlineExceededError {
  return error instanceof DeadlineExceededError
}

/**
 * The same call may succeed later without anybody changing anything: overload, time-outs, lost connections.
 * Says nothing about whether a create was processed the first time.
 */
export function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof DeadlineExceededError) return true
  if (!(error instanceof ApiError)) return false
  return error.status === 429 || error.status >= 500 || error.retryAfterMs !== undefined
}

/** Whether a cause of the failure has this reason, such as `FieldManagerConflict`. */
export function hasCause(error: unknown, reason: string): boolean {
  return error instanceof ApiError && error.causes.some((cause) => cause.reason === reason)
}

function hasHttpStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status
}
