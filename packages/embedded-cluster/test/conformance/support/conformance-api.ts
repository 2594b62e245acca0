/** The API of conformance cases: one cluster per file, plain requests, and unique names. */
import { randomBytes } from 'node:crypto'
import { type ClusterUnderTest, openCluster, type RawResponse, type WatchLine } from '@reeve/cluster-under-test'
import { afterAll, beforeAll } from 'vitest'

/** A JSON value of any shape: cases read objects of all kinds and assert their shape. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Json = any

/** Request headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>

/** A response with its body parsed as JSON; `undefined` when it is not JSON. */
export interface Reply extends RawResponse {
  readonly body: Json
}

/** Media types of patches. */
const MERGE = 'application/merge-patch+json'
export const STRATEGIC = 'application/strategic-merge-patch+json'

/** Plain requests to the cluster of this run. */
export class ConformanceApi {
  #cluster: ClusterUnderTest | undefined
  #namespace = ''

  /** Opens the cluster before the cases of a file and closes it after them. */
  static forThisFile(): ConformanceApi {
    const api = new ConformanceApi()
    beforeAll(async () => {
      api.#cluster = await openCluster()
      api.#namespace = await api.#cluster.createNamespace()
    })
    afterAll(() => api.#cluster?.close())
    return api
  }

  get cluster(): ClusterUnderTest {
    if (this.#cluster === undefined) throw new Error('the cluster is open only while cases run')
    return this.#cluster
  }

  /** A namespace that the cases of this file share; each uses its own names. */
  get namespace(): string {
    return this.#namespace
  }

  /** A namespace for one case. */
  newNamespace(): Promise<string> {
    return this.cluster.createNamespace()
  }

  get(path: string, headers?: Headers): Promise<Reply> {
    return this.send('GET', path, undefined, headers)
  }

  post(path: string, body: unknown, headers?: Headers): Promise<Reply> {
    return this.send('POST', path, body, headers)
  }

  put(path: string, body: unknown, headers?: Headers): Promise<Reply> {
    return this.send('PUT', path, body, headers)
  }

  /** A merge patch unless the headers specify another type. */
  patch(path: string, body: unknown, headers: Headers = {}): Promise<Reply> {
    return this.send('PATCH', path, body, { 'content-type': MERGE, ...headers })
  }

  delete(path: string, options?: unknown, headers?: Headers): Promise<Reply> {
    return this.send('DELETE', path, options, headers)
  }

  async send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Headers = {},
  ): Promise<Reply> {
    const response = await this.cluster.raw.send({ method, path, body, headers })
    return { ...response, body: jsonOf(response.text) }
  }

  /** Creates an object that the case needs; throws if that fails. */
  async create(path: string, object: unknown): Promise<Json> {
    const { status, text, body } = await this.post(path, object)
    if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`)
    return body
  }

  /** All lines of a watch until the server ends it; the path must have a timeout. */
  async watchToEnd(path: string, headers: Headers = {}): Promise<WatchLine[]> {
    const lines: WatchLine[] = []
    for await (const line of this.cluster.raw.watch(path, { headers })) lines.push(line)
    return lines
  }
}

/** `prefix` with a random suffix. */
export function unique(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // Plain text, YAML or empty: the case reads `text`.
    return undefined
  }
}
