/** "fetch failed" is all that the error of `fetch` says; who was called and what went wrong is found elsewhere. */
import { subscribe } from 'node:diagnostics_channel'

/** Scheme, host and port of failed requests, without path, query and credentials, which may be secret. */
const origins = new WeakMap<object, string>()

subscribe('undici:request:error', (message) => {
  const { request, error } = message as { readonly request: { readonly origin: unknown }; readonly error: unknown }
  if (typeof error === 'object' && error !== null) origins.set(error, String(request.origin))
})

/**
 * The error of a `fetch` that failed with its host and cause in the message; any other error as it is.
 *
 * @example
 * explainFetch(error).message // 'fetch http://translator:8080 failed: connect ECONNREFUSED 10.0.0.7:8080'
 */
export function explainFetch(error: Error): Error {
  if (!(error instanceof TypeError) || error.message !== 'fetch failed') return error
  const { cause } = error
  if (!(cause instanceof Error)) return error
  // Several addresses were tried: each has its own error, and the message of all of them is empty.
  const [first] = cause instanceof AggregateError ? cause.errors : []
  const reason = cause.message || (first instanceof Error ? first.message : cause.name)
  const origin = origins.get(cause)
  const explained = new TypeError(`fetch ${origin === undefined ? '' : `${origin} `}failed: ${reason}`, {
    cause: error,
  })
  // Of interest is at most where it was called, never where it was explained.
  if (error.stack !== undefined) explained.stack = error.stack.replace(error.message, () => explained.message)
  return explained
}
