/** A cluster without sockets, and requests to it. */
import {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  type JsonObject,
  startEmbeddedCluster,
} from '../../src/index.ts'

/** A complete response. */
export interface InProcessResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
  // Tests read objects of all kinds and assert their shape.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

/** Options of a request besides method, path and body. */
export interface InProcessOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An in-process cluster, without controllers by default. */
export class InProcess {
  readonly cluster: EmbeddedCluster

  private constructor(cluster: EmbeddedCluster) {
    this.cluster = cluster
  }

  static async start(options: EmbeddedClusterOptions = {}): Promise<InProcess> {
    return new InProcess(
      await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false, ...options }),
    )
  }

  async send(method: Method, path: string, body?: unknown, options: InProcessOptions = {}): Promise<InProcessResponse> {
    const response = await this.cluster.handle({
      method,
      path,
      headers: { 'content-type': 'application/json', 'user-agent': 'test/1.0', ...options.headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })
    let text = ''
    for await (const chunk of response.body) text += Buffer.from(chunk).toString()
    const isJson = text.startsWith('{') && !text.trimEnd().includes('\n{')
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
  }

  /** Sends a patch; `type` is the part of the media type before `-patch`. */
  patch(path: string, body: unknown, type: 'json' | 'merge' | 'strategic-merge' | 'apply' = 'merge') {
    const format = type === 'apply' ? 'yaml' : 'json'
    return this.send('PATCH', path, body, { headers: { 'content-type': `application/${type}-patch+${format}` } })
  }

  /** Opens a watch. */
  async watch(path: string, options: InProcessOptions = {}): Promise<WatchStream> {
    const abort = new AbortController()
    const response = await this.cluster.handle({
      method: 'GET',
      path,
      headers: { ...options.headers },
      signal: abort.signal,
    })
    return new WatchStream(response.status, response.body, abort)
  }

  stop(): Promise<void> {
    return this.cluster.stop()
  }
}

/** One event of a watch. */
export interface StreamEvent {
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: as in responses
  readonly object: any
}

/** Reads events one by one. */
export class WatchStream {
  readonly status: number
  readonly #iterator: AsyncIterator<Uint8Array>
  readonly #abort: AbortController
  readonly #events: StreamEvent[] = []
  #rest = ''

  constructor(status: number, body: AsyncIterable<Uint8Array>, abort: AbortController) {
    this.status = status
    this.#iterator = body[Symbol.asyncIterator]()
    this.#abort = abort
  }

  /** The next event; `undefined` when the stream has ended. */
  async next(): Promise<StreamEvent | undefined> {
    while (this.#events.length === 0) {
      const { done, value } = await this.#iterator.next()
      if (done === true) return undefined
      const lines = (this.#rest + Buffer.from(value).toString()).split('\n')
      this.#rest = lines.pop() ?? ''
      for (const line of lines) this.#events.push(JSON.parse(line))
    }
    return this.#events.shift()
  }

  /** The next `count` events as `TYPE name`. */
  async take(count: number): Promise<string[]> {
    const seen: string[] = []
    while (seen.length < count) {
      const event = await this.next()
      if (event === undefined) break
      seen.push(`${event.type} ${event.object.metadata?.name ?? ''}`.trim())
    }
    return seen
  }

  close(): void {
    this.#abort.abort()
  }
}

/** A ConfigMap. */
export function configMap(name: string, data: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data }
}

/** The collection that most tests use. */
export const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
