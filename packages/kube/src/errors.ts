/** Everything that goes wrong between a client and an API server, one class per thing a caller may handle. */
import type { Status } from './objects.ts'
import { describeTarget, type RequestTarget } from './request-target.ts'

/** Longest part of a server's message that goes into an error: enough for a validation report, not for an object. */
const MAX_SERVER_MESSAGE_LENGTH = 2_048

/** Stable codes of the errors of this package; decide by these (or by the predicates), never by message. */
export type KubeErrorCode =
  | 'KUBE_API'
  | 'KUBE_CONNECTION'
  | 'KUBE_DEADLINE_EXCEEDED'
  | 'KUBE_BAD_RESPONSE'
  | 'KUBE_INVALID_REQUEST'
  | 'KUBE_UNKNOWN_KIND'
  | 'KUBE_CONFIG'
  | 'KUBE_CREDENTIALS'
  | 'KUBE_JSON_LIMIT'

/** Base of every error that this package throws, apart from the reason of a caller's own signal. */
export abstract class KubeError extends Error {
  /** Stable: what callers and dashboards branch on. */
  abstract readonly code: KubeErrorCode
}

/** One of several reasons of a failure, usually one per invalid field. */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** What {@link ApiError} needs besides the target and the HTTP status. */
export interface ApiErrorOptions {
  /** The body, when it was a `Status`. */
  readonly body?: Status
  /** From the `Retry-After` header; `details.retryAfterSeconds` of the body counts when this is absent. */
  readonly retryAfterMs?: number
  /** Content type of a body that was not a `Status`. */
  readonly contentType?: string
}

/**
 * The server refused a request.
 *
 * The message names verb, resource and object and quotes the server's own sentence. It never contains a request
 * body, a header or a token; for Secrets and tokens the server's sentence is left out where it might quote the input.
 *
 * @example
 * try {
 *   await client.get(Pods, key)
 * } catch (error) {
 *   if (!isNotFound(error)) throw error
 * }
 */
export class ApiError extends KubeError {
  override readonly name = 'ApiError'
  override readonly code = 'KUBE_API'
  /** HTTP status. */
  readonly status: number
  /** Machine-readable reason such as `NotFound`; derived from the HTTP status when the server gave none. */
  readonly reason: string
  readonly target: RequestTarget
  readonly details: Status['details']
  readonly causes: readonly StatusCause[]
  /** How long the server asked to wait before trying again. */
  readonly retryAfterMs: number | undefined
  /** False when something other than the API itself answered, such as a proxy, or when the path is not served. */
  readonly hasStatus: boolean

  constructor(target: RequestTarget, status: number, options: ApiErrorOptions = {}) {
    const { body, contentType } = options
    const isWithheld = mayQuoteSecret(target, status)
    const reason = body?.reason || REASONS[status] || 'Unknown'
    super(`${describeTarget(target)}: ${status} ${reason}${explain(body, contentType, isWithheld)}`)
    this.status = status
    this.reason = reason
    this.target = target
    this.details = isWithheld ? withoutMessages(body?.details) : body?.details
    this.causes = this.details?.causes ?? []
    const seconds = body?.details?.retryAfterSeconds
    this.retryAfterMs = options.retryAfterMs ?? (seconds === undefined || seconds <= 0 ? undefined : seconds * 1_000)
    this.hasStatus = body !== undefined
  }
}

/** How far a request got before its connection failed. */
export type ConnectionPhase =
  /** No connection was made: the server has not seen the request. */
  | 'connect'
  /** The request may have been processed, but no response arrived. */
  | 'request'
  /** The response began and broke off. */
  | 'response'

/** A proxy that is to blame for a failed connection. */
export interface ProxyFailure {
  /** Host and port, without user name and password. */
  readonly host: string
  /** What it answered, if it did. */
  readonly status?: number
}

/** Options of {@link ConnectionError}. */
export interface ConnectionErrorOptions extends ErrorOptions {
  /** Given when the proxy failed, and not the server or the way from the proxy to it. */
  readonly proxy?: ProxyFailure
}

/** The connection could not be made or broke. Retried by the client where that is safe. */
export class ConnectionError extends KubeError {
  override readonly name = 'ConnectionError'
  override readonly code = 'KUBE_CONNECTION'
  readonly phase: ConnectionPhase
  readonly proxy: ProxyFailure | undefined

  constructor(message: string, phase: ConnectionPhase, options: ConnectionErrorOptions = {}) {
    const { proxy, ...rest } = options
    super(message, rest)
    this.phase = phase
    this.proxy = proxy
  }
}

/** A call, retries included, took longer than its `timeoutMs`. `cause` is the last failure seen before, if any. */
export class DeadlineExceededError extends KubeError {
  override readonly name = 'DeadlineExceededError'
  override readonly code = 'KUBE_DEADLINE_EXCEEDED'
  readonly timeoutMs: number

  constructor(target: RequestTarget, timeoutMs: number, options?: ErrorOptions) {
    super(`${describeTarget(target)}: no answer within ${timeoutMs} ms; raise timeoutMs or check the server`, options)
    this.timeoutMs = timeoutMs
  }
}

/** The server answered with something that is not what the API promises: no JSON, too large, cut off. */
export class BadResponseError extends KubeError {
  override readonly name = 'BadResponseError'
  override readonly code = 'KUBE_BAD_RESPONSE'

  constructor(target: RequestTarget, problem: string) {
    super(`${describeTarget(target)}: ${problem}`)
  }
}

/** A call that cannot be turned into a request: a missing name or namespace, a name that would change the path. */
export class InvalidRequestError extends KubeError {
  override readonly name = 'InvalidRequestError'
  override readonly code = 'KUBE_INVALID_REQUEST'
}

/** No resource of the server has this `apiVersion` and `kind`. */
export class UnknownKindError extends KubeError {
  override readonly name = 'UnknownKindError'
  override readonly code = 'KUBE_UNKNOWN_KIND'
  readonly apiVersion: string
  readonly kind: string

  constructor(object: { readonly apiVersion: string; readonly kind: string }) {
    super(
      `the server knows no ${object.kind} in ${object.apiVersion}: ` +
        'install its CustomResourceDefinition, or check apiVersion and kind',
    )
    this.apiVersion = object.apiVersion
    this.kind = object.kind
  }
}

/** A kubeconfig or the in-cluster environment is incomplete or wrong. The message names file, context and field. */
export class ConfigError extends KubeError {
  override readonly name = 'ConfigError'
  override readonly code = 'KUBE_CONFIG'
}

/** Credentials could not be obtained: a token file is gone, an exec plugin failed. Never contains the credentials. */
export class CredentialsError extends KubeError {
  override readonly name = 'CredentialsError'
  override readonly code = 'KUBE_CREDENTIALS'
}

/** Reasons for answers without a `Status`, such as those of a proxy in between. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

// Decoders and validators quote what they could not read ("... found in {"data":{"password":..."), and for these
// resources that is the very thing that must not be seen.
function mayQuoteSecret(target: RequestTarget, status: number): boolean {
  const isSensitive =
    target.resource === undefined ||
    (target.group === '' && target.resource === 'secrets') ||
    target.subresource === 'token' ||
    target.resource === 'tokenreviews'
  return isSensitive && (status === 400 || status === 422)
}

function withoutMessages(details: Status['details']): Status['details'] {
  if (details?.causes === undefined) return details
  const causes = details.causes.map(({ reason, field }) => ({
    ...(reason !== undefined && { reason }),
    ...(field !== undefined && { field }),
  }))
  return { ...details, causes }
}

function explain(body: Status | undefined, contentType: string | undefined, isWithheld: boolean): string {
  if (isWithheld) return ' (the server message is withheld: it may quote the request)'
  if (body?.message) return `: ${shorten(body.message)}`
  if (body === undefined && contentType !== undefined) return ` (answered with ${shorten(contentType)}, not a Status)`
  return ''
}

function shorten(text: string): string {
  return text.length <= MAX_SERVER_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_SERVER_MESSAGE_LENGTH)}…`
}
