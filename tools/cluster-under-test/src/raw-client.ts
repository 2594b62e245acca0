/** Plain HTTP to an API server, with neither of the repository's own halves: what is tested must not test itself. */
import { Agent } from 'undici'

/** How to reach a server and as whom; certificates and keys are PEM. */
export interface Connection {
  readonly server: string
  readonly ca: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  /** Whether HTTP/2 may be spoken, over which headers that occur several times are joined. @default true */
  readonly allowH2?: boolean
}

/** A request. `body` is sent as JSON unless it is text or bytes already. */
export interface RawRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  /** A list of values is sent as so many headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly signal?: AbortSignal
}

/** A complete answer. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The body as JSON; throws when it is none. */
  json<T = Record<string, unknown>>(): T
}

/** One line of a watch. */
export interface WatchLine {
  readonly type: string
  // Tests look into objects of all kinds and say themselves what they expect.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly object: any
}

/** How long a test waits for one answer. */
const ANSWER_TIMEOUT_MS = 30_000

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

  /** The answer, whatever its status. */
  async send(request: RawRequest): Promise<Answer> {
    const { statusCode, headers, body } = await this.#request(request, AbortSignal.timeout(ANSWER_TIMEOUT_MS))
    const text = await body.text()
    return { status: statusCode, headers, text, json: <T>() => JSON.parse(text) as T }
  }

  /** The lines of a watch as they come. Ends with the stream; breaking out closes it. */
  async *watch(
    path: string,
    options: { readonly signal?: AbortSignal; readonly headers?: Readonly<Record<string, string>> } = {},
  ): AsyncGenerator<WatchLine> {
    const request = { path, ...(options.headers && { headers: options.headers }) }
    const { statusCode, body } = await this.#request(request, options.signal ?? AbortSignal.timeout(ANSWER_TIMEOUT_MS))
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
