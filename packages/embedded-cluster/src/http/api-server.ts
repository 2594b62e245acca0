/** The server without sockets: handles a request and returns a response; it only throws for a broken connection. */

import { PageNotFound } from '../api/api-errors.ts'
import { newUid } from '../api/object-meta.ts'
import type { UserInfo } from '../api/user.ts'
import { type Authenticator, impersonate } from '../auth/authenticate.ts'
import { type Authorizer, forbidden } from '../auth/authorizer.ts'
import { ConnectionReset, type Fault, type RequestFacts } from '../faults/fault.ts'
import { type FaultInjector, factResource } from '../faults/fault-injector.ts'
import type { RequestLog } from '../faults/request-log.ts'
import { applyWatchFault, isWatchFault } from '../faults/watch-faults.ts'
import { selectedName } from '../rest/field-selector.ts'
import { parseRequestInfo, type RequestInfo } from '../rest/request-info.ts'
import type { ServerContext } from '../rest/server-context.ts'
import { StatusError } from '../status-error.ts'
import type { ServerRequest, ServerResponse } from './exchange.ts'
import { negotiateFailure } from './negotiation.ts'
import type { ResourceHandler } from './resource-handler.ts'
import { failureAs, warningHeaders } from './response.ts'

/** Serves non-resource paths: discovery, health, version. `undefined` when the path is unknown. */
export interface PathHandler {
  handle(request: ServerRequest, pathname: string, query: URLSearchParams): Promise<ServerResponse | undefined>
}

/** The parts of an {@link ApiServer}. */
export interface ApiServerParts {
  readonly context: ServerContext
  readonly resources: ResourceHandler
  readonly paths: PathHandler
  readonly authenticator: Authenticator
  readonly authorizer: Authorizer
  /** The user of an in-process request without credentials. */
  readonly inProcessUser: UserInfo
  readonly faults: FaultInjector
  readonly requests: RequestLog
}

/** Handles requests. */
export class ApiServer {
  readonly #parts: ApiServerParts
  #isStopped = false

  constructor(parts: ApiServerParts) {
    this.#parts = parts
  }

  /** From now on every request fails as if the server were not listening, and open watches end. */
  stop(): void {
    this.#isStopped = true
    for (const watcher of this.#parts.context.hub.watchers()) watcher.end()
  }

  /**
   * Handles one request. Errors become a `Status` response; the promise rejects only when a fault rule breaks the
   * connection, when the request's signal aborts, or when the cluster has stopped.
   */
  async handle(request: ServerRequest, origin: 'local' | 'remote' = 'local'): Promise<ServerResponse> {
    if (this.#isStopped) throw new ConnectionReset('because the cluster has stopped')
    const signal = request.signal ?? new AbortController().signal
    signal.throwIfAborted()
    const warnings: string[] = []
    const mark = request.path.indexOf('?')
    const pathname = mark < 0 ? request.path : request.path.slice(0, mark)
    const query = new URLSearchParams(mark < 0 ? '' : request.path.slice(mark + 1))
    const path = parseRequestInfo(request.method, pathname, query)
    let facts = describe(request, path, '')
    let response: ServerResponse
    try {
      const user = this.#identify(request, origin)
      facts = { ...facts, username: user.username }
      response = await this.#faulty(facts, signal, () =>
        path === undefined
          ? this.#path(request, user, pathname, query)
          : this.#resource(request, user, path, warnings, signal),
      )
    } catch (error) {
      if (error instanceof ConnectionReset) {
        this.#parts.requests.record({ ...facts, status: 0 })
        throw error
      }
      signal.throwIfAborted()
      response = await failureAs(error, negotiateFailure(request.headers, query))
    }
    this.#parts.requests.record({ ...facts, status: response.status })
    return {
      ...response,
      headers: {
        'audit-id': newUid(this.#parts.context.random),
        ...response.headers,
        ...(warnings.length === 0 ? {} : { warning: warningHeaders(warnings) }),
      },
    }
  }

  #identify(request: ServerRequest, origin: 'local' | 'remote'): UserInfo {
    const { authenticator, authorizer, inProcessUser } = this.#parts
    const hasCredentials = request.user !== undefined || request.headers.authorization !== undefined
    const isTrusted = origin === 'local' && !hasCredentials
    const user = isTrusted ? inProcessUser : authenticator.authenticate(request)
    return impersonate(user, request, authorizer)
  }

  async #path(
    request: ServerRequest,
    user: UserInfo,
    pathname: string,
    query: URLSearchParams,
  ): Promise<ServerResponse> {
    const access = { user, verb: request.method.toLowerCase(), path: pathname }
    const decision = this.#parts.authorizer.authorize(access)
    if (!decision.allowed) throw forbidden(access, decision.reason)
    const response = await this.#parts.paths.handle(request, pathname, query)
    if (response === undefined) throw new PageNotFound()
    return response
  }

  async #resource(
    request: ServerRequest,
    user: UserInfo,
    path: RequestInfo,
    warnings: string[],
    signal: AbortSignal,
  ): Promise<ServerResponse> {
    const { authorizer, resources } = this.#parts
    const isNamespaceItself = path.group === '' && path.resource === 'namespaces'
    // A request for all objects with one name is authorized as a request for that object.
    const name = path.name ?? selectedName(path.query.get('fieldSelector') ?? '')
    const access = {
      user,
      verb: path.verb,
      group: path.group,
      resource: path.resource,
      subresource: path.subresource,
      namespace: isNamespaceItself ? name : path.namespace,
      name,
    }
    const decision = authorizer.authorize(access)
    if (!decision.allowed) throw forbidden(access, decision.reason)
    const info = resources.resolve(path)
    const warn = (message: string) => {
      warnings.push(message)
    }
    return resources.handle({ request, path, info, user, warn, signal })
  }

  async #faulty(
    facts: RequestFacts,
    signal: AbortSignal,
    respond: () => Promise<ServerResponse>,
  ): Promise<ServerResponse> {
    const fault = this.#parts.faults.take(facts)
    if (fault === undefined) return respond()
    if (fault.kind === 'status') throw statusOf(fault)
    if (fault.kind === 'latency') await this.#delay(fault.delayMs, signal)
    if (fault.kind === 'reset' && fault.when === 'before') throw new ConnectionReset('before the request had an effect')
    const response = await respond()
    if (fault.kind === 'reset') throw new ConnectionReset('after the request had its effect')
    return isWatchFault(fault) ? { ...response, body: applyWatchFault(response.body, fault, signal) } : response
  }

  async #delay(delayMs: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const finish = () => {
        timer.cancel()
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const timer = this.#parts.context.clock.schedule(delayMs, finish)
      signal.addEventListener('abort', finish, { once: true })
    })
    signal.throwIfAborted()
  }
}

function describe(request: ServerRequest, path: RequestInfo | undefined, username: string): RequestFacts {
  return {
    verb: path?.verb ?? request.method.toLowerCase(),
    resource: path === undefined ? '' : factResource(path),
    subresource: path?.subresource,
    namespace: path?.namespace,
    name: path?.name,
    method: request.method,
    path: request.path,
    userAgent: request.headers['user-agent'] ?? '',
    username,
  }
}

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

function statusOf(fault: Fault & { kind: 'status' }): StatusError {
  const { code, retryAfterSeconds } = fault
  const reason = fault.reason ?? reasons[code] ?? ''
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds }
  return new StatusError(code, reason, fault.message ?? `fault rule: status ${code}`, details)
}
