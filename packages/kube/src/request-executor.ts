/** Sends one call through the transport: deadline, retries, diagnostics, warnings, and errors that name the object. */
import {
  type Clock,
  HttpConnectionError,
  HttpInvalidRequestError,
  type RetryLimits,
  retry,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@reeve/http'
import { DEFAULT_TIMEOUT_MS } from './defaults.ts'
import {
  ConnectionError,
  type ConnectionErrorOptions,
  DeadlineExceededError,
  InvalidRequestError,
  KubeError,
} from './errors.ts'
import { type Impersonation, impersonationHeaders } from './impersonation.ts'
import type { ClientObserver } from './observer.ts'
import type { Reachability } from './reachability.ts'
import { describeTarget, type RequestTarget } from './request-target.ts'
import { readApiError, readContent } from './response-body.ts'
import { requestedDelayMs } from './retry-policy.ts'
import { warningTexts } from './warning-texts.ts'

/** A request without the headers that all requests of a client share. */
export interface Call {
  readonly target: RequestTarget
  readonly method: TransportRequest['method']
  readonly path: string
  readonly accept?: string
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Encoded as JSON once, however often it is sent. */
  readonly body?: unknown
  readonly isIdempotent: boolean
  /** Only for {@link RequestExecutor.open}. */
  readonly upgrade?: 'websocket'
  /** The impersonated identity of this call, overriding that of the client. */
  readonly impersonate?: Impersonation
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** Dependencies of an executor. */
export interface RequestExecutorOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly random: () => number
  readonly limits: RetryLimits
  readonly observer: ClientObserver
  readonly reachability?: Reachability
  readonly maxResponseBytes: number
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>
  /** The default impersonated identity. */
  readonly impersonate?: Impersonation
}

/** Executes the calls of one client. */
export class RequestExecutor {
  readonly #options: RequestExecutorOptions

  constructor(options: RequestExecutorOptions) {
    this.#options = options
  }

  /** The parsed response of a call, after as many attempts as policy and deadline allow. */
  async content(call: Call): Promise<unknown> {
    const { clock, random, limits, observer } = this.#options
    const { target, isIdempotent, signal, timeoutMs = DEFAULT_TIMEOUT_MS } = call
    const request = this.#compose(call)
    return retry(
      {
        clock,
        random,
        signal,
        timeoutMs,
        limits,
        requestedDelayMs: (error) => requestedDelayMs(error, isIdempotent),
        onTimeout: (last) =>
          new DeadlineExceededError(target, timeoutMs, {
            ...(last !== undefined && { cause: last }),
            ...this.#server(),
          }),
        onRetry: (error, attempt, delayMs) => observer.retrying(target, error, attempt, delayMs),
      },
      (bounded, attempt) => this.#try(call, { ...request, signal: bounded }, attempt),
    )
  }

  /** Opens a stream: one attempt, no deadline. Consumers of streams reconnect anyway, with their own backoff. */
  async open(call: Call, signal: AbortSignal): Promise<TransportResponse> {
    const startedAt = this.#options.clock.now()
    const request = { ...this.#compose(call), signal, isStream: true }
    let status: number | undefined
    try {
      const response = await this.#send(call.target, request)
      status = response.status
      this.#warn(call.target, response)
      const isUpgraded = call.upgrade !== undefined && response.socket !== undefined
      if (!isUpgraded && (response.status < 200 || response.status > 299)) {
        throw await this.#refusal(call.target, response)
      }
      this.#report(call, startedAt, 0, status)
      return response
    } catch (error) {
      this.#report(call, startedAt, 0, status, error)
      throw error
    }
  }

  async #try(call: Call, request: TransportRequest, attempt: number): Promise<unknown> {
    const startedAt = this.#options.clock.now()
    let status: number | undefined
    try {
      const response = await this.#send(call.target, request)
      status = response.status
      this.#warn(call.target, response)
      if (response.status < 200 || response.status > 299) throw await this.#refusal(call.target, response)
      const content = await this.#read(call.target, response)
      this.#report(call, startedAt, attempt, status)
      return content
    } catch (error) {
      this.#report(call, startedAt, attempt, status, error)
      if (status === undefined) this.#options.reachability?.unanswered(this.#options.clock.now() - startedAt)
      throw error
    }
  }

  async #send(target: RequestTarget, request: TransportRequest): Promise<TransportResponse> {
    try {
      return await this.#options.transport.send(request)
    } catch (error) {
      request.signal?.throwIfAborted()
      throw asConnectionError(target, error, 'request', this.#server())
    }
  }

  async #read(target: RequestTarget, response: TransportResponse): Promise<unknown> {
    try {
      return await readContent(target, response, this.#options.maxResponseBytes)
    } catch (error) {
      throw asConnectionError(target, error, 'response')
    }
  }

  #refusal(target: RequestTarget, response: TransportResponse): Promise<KubeError> {
    return readApiError(target, response, this.#options.clock.now())
  }

  #warn(target: RequestTarget, response: TransportResponse): void {
    for (const text of warningTexts(response.headers)) this.#options.observer.warned(target, text)
  }

  #report(call: Call, startedAt: number, attempt: number, status: number | undefined, error?: unknown): void {
    const durationMs = this.#options.clock.now() - startedAt
    this.#options.reachability?.attempted(status, error)
    this.#options.observer.requested({
      ...call.target,
      method: call.method,
      attempt,
      durationMs,
      ...(status !== undefined && { status }),
      ...(error instanceof KubeError && { errorCode: error.code }),
    })
  }

  #server(): { readonly server?: string } {
    const { reachability } = this.#options
    return reachability === undefined ? {} : { server: reachability.server }
  }

  #compose(call: Call): TransportRequest {
    const identity = impersonationHeaders(call.impersonate ?? this.#options.impersonate)
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    return {
      method: call.method,
      path: call.path,
      headers: {
        ...this.#options.headers,
        ...identity.headers,
        accept: call.accept ?? 'application/json',
        ...(body !== undefined && { 'content-type': call.contentType ?? 'application/json' }),
        ...call.headers,
      },
      ...(Object.keys(identity.repeatedHeaders).length > 0 && { repeatedHeaders: identity.repeatedHeaders }),
      ...(body !== undefined && { body }),
      ...(call.upgrade !== undefined && { upgrade: call.upgrade }),
    }
  }
}

/**
 * An error of a transport, with the name of the object. Lost connections keep their phase, our own errors and programming
 * errors are not changed, and anything else is a connection error.
 */
export function asConnectionError(
  target: RequestTarget,
  error: unknown,
  phase: 'request' | 'response',
  options: Pick<ConnectionErrorOptions, 'server'> = {},
): unknown {
  if (error instanceof HttpConnectionError) {
    const { phase: reached, cause, proxy } = error
    return new ConnectionError(`${describeTarget(target)}: ${error.message}`, reached, {
      cause,
      ...(proxy && { proxy }),
      ...options,
    })
  }
  if (error instanceof HttpInvalidRequestError) return new InvalidRequestError(error.message)
  if (error instanceof KubeError || isBug(error)) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ConnectionError(`${describeTarget(target)}: ${message}`, phase, { cause: error, ...options })
}

// Retrying a programming error in a transport would only hide it.
function isBug(error: unknown): boolean {
  return [TypeError, ReferenceError, RangeError, SyntaxError].some((bug) => error instanceof bug)
}
