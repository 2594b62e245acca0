/** Errors of connections to servers outside the cluster, before any response of the API. */
import type { ConnectionErrorOptions, ConnectionPhase, ProxyFailure } from '@reeve/kube'

/** Stable codes of {@link HttpError}. */
export type HttpErrorCode =
  | 'HTTP_CONNECTION'
  | 'HTTP_DEADLINE_EXCEEDED'
  | 'HTTP_REDIRECT'
  | 'HTTP_TOO_LARGE'
  | 'HTTP_CONFIG'

/** Base of the errors of this folder. Their messages name the call and the host, never a header or a body. */
export abstract class HttpError extends Error {
  abstract readonly code: HttpErrorCode
}

/** No connection was made, or it broke. */
export class HttpConnectionError extends HttpError {
  override readonly name = 'HttpConnectionError'
  override readonly code = 'HTTP_CONNECTION'
  /** How far the request got: after `connect` the server has not seen it. */
  readonly phase: ConnectionPhase
  /** Given when it was the proxy that failed. */
  readonly proxy: ProxyFailure | undefined

  constructor(message: string, phase: ConnectionPhase, options: ConnectionErrorOptions = {}) {
    const { proxy, ...rest } = options
    super(message, rest)
    this.phase = phase
    this.proxy = proxy
  }
}

/** A call, retries and reading included, took longer than allowed. `cause` is the last failure seen before. */
export class HttpDeadlineError extends HttpError {
  override readonly name = 'HttpDeadlineError'
  override readonly code = 'HTTP_DEADLINE_EXCEEDED'

  constructor(what: string, timeoutMs: number, options?: ErrorOptions) {
    super(`${what}: not finished within ${timeoutMs} ms; check the server and the way to it`, options)
  }
}

/** A redirect that must not be followed, or one too many. */
export class HttpRedirectError extends HttpError {
  override readonly name = 'HttpRedirectError'
  override readonly code = 'HTTP_REDIRECT'
}

/** A response larger than this call allows. */
export class HttpTooLargeError extends HttpError {
  override readonly name = 'HttpTooLargeError'
  override readonly code = 'HTTP_TOO_LARGE'
}

/** Certificates or addresses that cannot be used. */
export class HttpConfigError extends HttpError {
  override readonly name = 'HttpConfigError'
  override readonly code = 'HTTP_CONFIG'
}
