/**
 * Plain HTTP to an API server. It uses neither Reeve's client nor its server, so that tests do not verify code with
 * itself.
 */
import { Agent } from 'undici'
import { parse } from 'yaml'

/** How to reach a server and with which credentials; certificates and keys are PEM. */
export interface Connection {
  readonly server: string
  readonly ca: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  /** Whether to allow HTTP/2, which joins repeated headers. @default true */
  readonly allowH2?: boolean
}

/** A request. `body` is sent as JSON unless it is a string or bytes. */
export interface RawRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** A list of values is sent as repeated headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly signal?: AbortSignal
}

/** A complete response. */
export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The body parsed as JSON; throws when it is not valid JSON. */
  json<T = Record<string, unknown>>(): T
}

/** One line of a watch. */
export interface WatchLine {
  readonly type: string
  // Tests read objects of all kinds and assert their shape.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly object: any
}

/** How long a test waits for one response. */
const RESPONSE_TIMEOUT_MS = 30_000

/**
 * Sends requests over a pool of connections.
 *
 * @example
 * const { status } = await raw.send({ path: '/api/v1/namespaces' })
 */
export class RawClient {
  readonly #agent: Agent
  readonly #origin: string
  readonly #headers: Readonly<Record<string, string>>

  constructor(connection: Connection) {
    const { ca, cert, key, token, allowH2 = true } = connection
    this.#origin = connection.server
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    this.#agent = new Agent({ connect: { ca, cert, key }, allowH2, bodyTimeout: 0 })
  }

  /** The response, whatever its status. */
  async send(request: RawRequest): Promise<RawResponse> {
    const { statusCode, headers, body } = await this.#request(request, AbortSignal.timeout(RESPONSE_TIMEOUT_MS))
    const text = await body.text()
    return { status: statusCode, headers, text, json: <T>() => JSON.parse(text) as T }
  }

  /** The lines of a watch as they arrive. Ends with the stream; breaking out of the loop closes it. */
  async *watch(
    path: string,
    options: { readonly signal?: AbortSignal; readonly headers?: Readonly<Record<string, string>> } = {},
  ): AsyncGenerator<WatchLine> {
    const request = { path, ...(options.headers && { headers: options.headers }) }
    const { statusCode, body } = await this.#request(
      request,
      options.signal ?? AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    )
    if (statusCode !== 200) throw new Error(`GET ${path}: ${statusCode} ${await body.text()}`)
    let rest = ''
    for await (const chunk of body.setEncoding('utf8')) {
      const lines = `${rest}${String(chunk)}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') yield JSON.parse(line) as WatchLine
    }
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  #request(request: RawRequest, deadline: AbortSignal) {
    const { method = 'GET', path, body, headers, signal } = request
    const isRaw = typeof body === 'string' || body instanceof Uint8Array
    return this.#agent.request({
      origin: this.#origin,
      path,
      method,
      headers: {
        ...this.#headers,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    })
  }
}

interface Kubeconfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string }
  }[]
  readonly users: readonly {
    readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
  }[]
}

/** The first cluster and user of a kubeconfig written by this repository's own tools. */
export function connectionOf(kubeconfig: string): Connection {
  const { clusters, users } = parse(kubeconfig) as Kubeconfig
  const cluster = clusters[0]?.cluster
  const user = users[0]?.user
  if (cluster === undefined || user === undefined) throw new Error('the kubeconfig has no cluster or no user')
  return {
    server: cluster.server,
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  }
}

function decode(data: string): string {
  return Buffer.from(data, 'base64').toString()
}
