/** Errors between a client and a server, whatever the API of the server. */
import { CodedError } from './coded-error.ts'

/** Stable codes of {@link HttpError}. */
export type HttpErrorCode =
  | 'HTTP_CONNECTION'
  | 'HTTP_DEADLINE_EXCEEDED'
  | 'HTTP_REDIRECT'
  | 'HTTP_TOO_LARGE'
  | 'HTTP_CONFIG'
  | 'HTTP_INVALID_REQUEST'
  | 'HTTP_JSON_LIMIT'

/** Base class of the errors of this package. Their messages never contain a header or a body. */
export abstract class HttpError extends CodedError<HttpErrorCode> {}

/** How far a request got before its connection failed. */
export type ConnectionPhase =
  /** No connection was made: the server has not seen the request. */
  | 'connect'
  /** The request may have been processed, but no response arrived. */
  | 'request'
  /** The response began and was interrupted. */
  | 'response'

/** The proxy that caused a failed connection. */
export interface ProxyFailure {
  /** Host and port, without user name and password. */
  readonly host: string
  /** The status of its response, if there was one. */
  readonly status?: number
}

/** Options of {@link HttpConnectionError}. */
export interface HttpConnectionErrorOptions extends ErrorOptions {
  /** Set when the proxy failed, and not the server or the connection from the proxy to it. */
  readonly proxy?: ProxyFailure
}

/** The connection could not be established or was lost. */
export class HttpConnectionError extends HttpError {
  override readonly name = 'HttpConnectionError'
  override readonly code = 'HTTP_CONNECTION'
  /** How far the request got: after `connect` the server has not seen it. */
  readonly phase: ConnectionPhase
  /** Given when it was the proxy that failed. */
  readonly proxy: ProxyFailure | undefined

  constructor(message: string, phase: ConnectionPhase, options: HttpConnectionErrorOptions = {}) {
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

/** A request that cannot be sent, such as one with a line break in a header. A retry cannot help. */
export class HttpInvalidRequestError extends HttpError {
  override readonly name = 'HttpInvalidRequestError'
  override readonly code = 'HTTP_INVALID_REQUEST'
}
