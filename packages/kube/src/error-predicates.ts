/** Predicates for errors, so that callers do not compare messages or status codes. */
import { ApiError, ConnectionError, DeadlineExceededError } from './errors.ts'

/** The server responded with an error; narrows to {@link ApiError}. */
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

/** Another client changed the object, a precondition failed, or another field manager owns a field. */
export function isConflict(error: unknown): error is ApiError {
  return hasHttpStatus(error, 409) && error.reason !== 'AlreadyExists'
}

/** A server-side apply touched fields that another manager owns; `causes` lists them. */
export function isApplyConflict(error: unknown): error is ApiError {
  return isConflict(error) && hasCause(error, 'FieldManagerConflict')
}

/** A create failed because an object of that name exists. */
export function isAlreadyExists(error: unknown): error is ApiError {
  return hasHttpStatus(error, 409) && error.reason === 'AlreadyExists'
}

/** RBAC or admission denied the request. */
export function isForbidden(error: unknown): error is ApiError {
  return hasHttpStatus(error, 403)
}

/** A create was rejected because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): error is ApiError {
  return isForbidden(error) && hasCause(error, 'NamespaceTerminating')
}

/** Authentication failed, after one refresh of the credentials. */
export function isUnauthorized(error: unknown): error is ApiError {
  return hasHttpStatus(error, 401)
}

/** The object failed validation; `causes` lists the fields. Retrying will not help. */
export function isInvalid(error: unknown): error is ApiError {
  return hasHttpStatus(error, 422)
}

/** The server could not process the request. */
export function isBadRequest(error: unknown): error is ApiError {
  return hasHttpStatus(error, 400)
}

/** The resourceVersion or continue token is older than the server's history: list again. */
export function isExpired(error: unknown): error is ApiError {
  return hasHttpStatus(error, 410) || (error instanceof ApiError && error.reason === 'Expired')
}

/** The same as {@link isExpired}, under the name of the HTTP status. */
export function isGone(error: unknown): error is ApiError {
  return isExpired(error)
}

/** The server is overloaded; `retryAfterMs` is the requested delay. */
export function isTooManyRequests(error: unknown): error is ApiError {
  return hasHttpStatus(error, 429)
}

/** The server timed out, for example waiting for its storage or for a newer resourceVersion. */
export function isServerTimeout(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 504 || ['ServerTimeout', 'Timeout'].includes(error.reason))
}

/** The object is larger than the server accepts. */
export function isRequestTooLarge(error: unknown): error is ApiError {
  return hasHttpStatus(error, 413)
}

/** The connection could not be established or was lost. */
export function isConnectionError(error: unknown): error is ConnectionError {
  return error instanceof ConnectionError
}

/** The call's own deadline passed. */
export function isDeadlineExceeded(error: unknown): error is DeadlineExceededError {
  return error instanceof DeadlineExceededError
}

/**
 * The same call may succeed later without other changes: overload, timeouts, lost connections. Does not imply that a
 * create was not processed.
 */
export function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof DeadlineExceededError) return true
  if (!(error instanceof ApiError)) return false
  return error.status === 429 || error.status >= 500 || error.retryAfterMs !== undefined
}

/** Whether the error has a cause with this reason, such as `FieldManagerConflict`. */
export function hasCause(error: unknown, reason: string): boolean {
  return error instanceof ApiError && error.causes.some((cause) => cause.reason === reason)
}

function hasHttpStatus(error: unknown, status: number): error is ApiError {
  return error instanceof ApiError && error.status === status
}
