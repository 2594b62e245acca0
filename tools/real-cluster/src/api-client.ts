/**
 * The few requests this package sends to an API server. Reeve's own client is not used because its tests run on this
 * package.
 */
import { Agent, type Dispatcher } from 'undici'
import { RequestFailedError } from './errors.ts'
import type { Connection } from './kubeconfig.ts'

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with query, such as `/api/v1/pods?limit=5`. */
  readonly path: string
  readonly body?: unknown
  /** @default application/json */
  readonly contentType?: string
  /** @default application/json */
  readonly accept?: string
  readonly signal?: AbortSignal
}

/** Sends requests over a pool of connections; `close` ends them. */
export class ApiClient {
  readonly #agent: Agent
  readonly #origin: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(connection: Connection) {
    const { ca, cert, key, token } = connection
    this.#origin = new URL(connection.server).origin
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#agent = new Agent({ connect: { ca, cert, key }, bodyTimeout: 0 })
  }

  /** The response body, parsed. Throws `RequestFailedError` on any status from 400. */
  async json<T>(request: ApiRequest): Promise<T> {
    // The server's schema guarantees the type named by the caller.
    return JSON.parse(await this.text(request)) as T
  }

  /** The response body as text. Throws `RequestFailedError` on any status from 400. */
  async text(request: ApiRequest): Promise<string> {
    const { statusCode, body } = await this.#send(request)
    const text = await body.text()
    if (statusCode >= 400) throw new RequestFailedError(request.method, request.path, statusCode, text)
    return text
  }

  /** The response body line by line, as the lines arrive: a watch. */
  async *lines(path: string, signal: AbortSignal): AsyncGenerator<string> {
    const { statusCode, body } = await this.#send({ method: 'GET', path, signal })
    if (statusCode >= 400) throw new RequestFailedError('GET', path, statusCode, await body.text())
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of body) {
      rest += decoder.decode(chunk, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      yield* lines.filter((line) => line !== '')
    }
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  #send(request: ApiRequest): Promise<Dispatcher.ResponseData> {
    return this.#agent.request({
      origin: this.#origin,
      path: request.path,
      method: request.method,
      signal: request.signal,
      headers: {
        ...this.#headers,
        accept: request.accept ?? 'application/json',
        'user-agent': 'reeve-real-cluster',
        ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
      },
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
    })
  }
}
