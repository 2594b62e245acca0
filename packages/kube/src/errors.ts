/** The errors between a client and an API server, one class per case that a caller may handle. */
import { CodedError, type ConnectionPhase, type ProxyFailure } from '@reeve/http'
import { isBuiltInGroup } from './api-groups.ts'
import type { Status } from './objects.ts'
import { describeTarget, type RequestTarget } from './request-target.ts'

/** Maximum length of a server's message in an error: enough for a validation report, not for an object. */
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

/** Base class of the errors of this package, except for the reason of a caller's own signal. */
export abstract class KubeError extends CodedError<KubeErrorCode> {}

/** One of several causes of an error, usually one per invalid field. */
export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** Properties of {@link ApiError} besides the target and the HTTP status. */
export interface ApiErrorOptions {
  /** The body, when it was a `Status`. */
  readonly body?: Status
  /** From the `Retry-After` header; `details.retryAfterSeconds` of the body is used when this is absent. */
  readonly retryAfterMs?: number
  /** Content type of a body that was not a `Status`. */
  readonly contentType?: string
}

/**
 * The server responded with an error.
 *
 * The message names verb, resource and object and quotes the server's message. It never contains a request body, a
 * header or a token; for Secrets and tokens the server's message is omitted where it might quote the input.
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
  /** The delay requested by the server before a retry. */
  readonly retryAfterMs: number | undefined
  /** False when the response is not from the API itself, such as one of a proxy, or when the path is not served. */
  readonly hasStatus: boolean

  constructor(target: RequestTarget, status: number, options: ApiErrorOptions = {}) {
    const { body, contentType } = options
    const isWithheld = mayQuoteSecret(target, status)
    const reason = body?.reason || REASONS[status] || 'Unknown'
    const explanation = isNotServed(target, status, body) ? notServed(target) : explain(body, contentType, isWithheld)
    super(`${describeTarget(target)}: ${status} ${reason}${explanation}`)
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

/** Options of {@link ConnectionError}. */
export interface ConnectionErrorOptions extends ErrorOptions {
  /** Set when the proxy failed, and not the server or the connection from the proxy to it. */
  readonly proxy?: ProxyFailure
  /** The address of the server, without a password. */
  readonly server?: string
}

/** The connection could not be established or was lost. The client retries where that is safe. */
export class ConnectionError extends KubeError {
  override readonly name = 'ConnectionError'
  override readonly code = 'KUBE_CONNECTION'
  readonly phase: ConnectionPhase
  readonly proxy: ProxyFailure | undefined
  readonly server: string | undefined

  constructor(message: string, phase: ConnectionPhase, options: ConnectionErrorOptions = {}) {
    const { proxy, server, ...rest } = options
    super(message, rest)
    this.phase = phase
    this.proxy = proxy
    this.server = server
  }
}

/** A call, including retries, took longer than its `timeoutMs`. `cause` is the last error before, if any. */
export class DeadlineExceededError extends KubeError {
  override readonly name = 'DeadlineExceededError'
  override readonly code = 'KUBE_DEADLINE_EXCEEDED'
  readonly timeoutMs: number
  readonly server: string | undefined

  constructor(target: RequestTarget, timeoutMs: number, options: Omit<ConnectionErrorOptions, 'proxy'> = {}) {
    const { server, ...rest } = options
    super(`${describeTarget(target)}: no response within ${timeoutMs} ms (timeoutMs)`, rest)
    this.timeoutMs = timeoutMs
    this.server = server
  }
}

/** The response is not what the API specifies: not JSON, too large, truncated. */
export class BadResponseError extends KubeError {
  override readonly name = 'BadResponseError'
  override readonly code = 'KUBE_BAD_RESPONSE'

  constructor(target: RequestTarget, problem: string, options?: ErrorOptions) {
    super(`${describeTarget(target)}: ${problem}`, options)
  }
}

/** A call that cannot be converted to a request: a missing name or namespace, a name that would change the path. */
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
      `the server does not serve ${object.kind} in ${object.apiVersion}: ` +
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

/**
 * Credentials could not be obtained: a token file is missing, an exec plugin failed. Never contains the credentials.
 */
export class CredentialsError extends KubeError {
  override readonly name = 'CredentialsError'
  override readonly code = 'KUBE_CREDENTIALS'
}

/** Reasons for responses without a `Status`, such as those of a proxy. */
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

// Decoders and validators quote what they could not parse ("... found in {"data":{"password":..."), which must not be
// shown for these resources.
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

/** The API server responds to a path that it does not serve with a plain text. */
function isNotServed({ resource }: RequestTarget, status: number, body: Status | undefined): boolean {
  return status === 404 && body === undefined && resource !== undefined
}

function notServed({ group = '', version = '', resource = '' }: RequestTarget): string {
  if (isBuiltInGroup(group)) {
    return `: the server does not serve ${resource} in ${group === '' ? '' : `${group}/`}${version}; check its version`
  }
  return `: the CRD ${resource}.${group} is not installed, or does not serve ${version}; apply it`
}

function explain(body: Status | undefined, contentType: string | undefined, isWithheld: boolean): string {
  if (isWithheld) return ' (the server message is withheld: it may quote the request)'
  if (body?.message) return `: ${shorten(body.message)}`
  if (body === undefined && contentType !== undefined) return ` (the response is ${shorten(contentType)}, not a Status)`
  return ''
}

function shorten(text: string): string {
  return text.length <= MAX_SERVER_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_SERVER_MESSAGE_LENGTH)}…`
}
