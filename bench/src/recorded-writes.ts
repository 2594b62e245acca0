/** The writes of an operator, recorded with their time, to be sent again without the operator. */
import { type Transport, type TransportRequest, type TransportResponse, UndiciTransport } from '@reeve/http'
import { loadConfig } from '@reeve/kube'

/** A write that succeeded. */
export interface RecordedWrite {
  readonly method: TransportRequest['method']
  readonly path: string
  readonly headers: TransportRequest['headers']
  readonly body: string
  /** When the response arrived, on the clock of `performance.now()`. */
  readonly endedMs: number
}

/** Sends requests as usual and keeps the writes. */
export class RecordingTransport implements Transport {
  readonly #inner: Transport
  readonly writes: RecordedWrite[] = []

  constructor(inner: Transport) {
    this.#inner = inner
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const response = await this.#inner.send(request)
    const { method, path, headers, body = '' } = request
    if (method !== 'GET' && response.status < 300) {
      this.writes.push({ method, path, headers, body: body.toString(), endedMs: performance.now() })
    }
    return response
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}

/** A transport to a server. */
export async function transportTo(kubeconfig: string): Promise<Transport> {
  return new UndiciTransport(await loadConfig({ kubeconfig }))
}

/**
 * Uses its own transport. One that was idle meanwhile may find its connections closed by the server in the
 * middle of a write, which cannot be repeated safely.
 */
export async function withTransport<T>(kubeconfig: string, work: (transport: Transport) => Promise<T>): Promise<T> {
  const transport = await transportTo(kubeconfig)
  try {
    return await work(transport)
  } finally {
    await transport.close()
  }
}

const STATUS = /\/status(\?|$)/
const EVENT = /\/events(\?|$)/

/** Whether it makes an object: neither a status nor an event. */
export function isOfObject({ path }: RecordedWrite): boolean {
  return !STATUS.test(path) && !EVENT.test(path)
}

/** Redirects writes to another place: a word of their names and the uid of their owner change. */
export interface Relocation {
  readonly word: readonly [from: string, to: string]
  readonly uid: readonly [from: string, to: string]
}

/** The writes for another owner elsewhere. */
export function relocated(writes: readonly RecordedWrite[], { word, uid }: Relocation): readonly RecordedWrite[] {
  const renamed = (text: string) => text.replaceAll(...word).replaceAll(...uid)
  return writes.map((write) => ({ ...write, path: renamed(write.path), body: renamed(write.body) }))
}

/**
 * Sends the writes one after the other.
 *
 * @param resourceVersion of the owner, whose status is written over a version that is known
 */
export async function repeat(
  writes: readonly RecordedWrite[],
  transport: Transport,
  resourceVersion: string,
): Promise<void> {
  let known = resourceVersion
  for (const write of writes) {
    const isStatus = STATUS.test(write.path)
    const body = isStatus ? overVersion(write.body, known) : withoutPrecondition(write.body)
    const answer = await send(transport, { ...write, body })
    if (isStatus) known = JSON.parse(answer).metadata.resourceVersion
  }
}

/** Takes back what the writes made, so that a next round finds nothing. */
export async function undo(writes: readonly RecordedWrite[], transport: Transport): Promise<void> {
  for (const write of writes.filter(isOfObject)) {
    const { body } = await transport.send(NAMESPACE.test(write.path) ? unlabelling(write) : deletion(write))
    await textOf(body)
  }
}

const NAMESPACE = /^\/api\/v1\/namespaces\/[^/?]+(\?|$)/

function deletion({ method, path, body }: RecordedWrite): TransportRequest {
  const [collection = ''] = path.split('?')
  const name = method === 'POST' ? `/${JSON.parse(body).metadata.name}` : ''
  return { method: 'DELETE', path: `${collection}${name}`, headers: {} }
}

/** Namespaces stay: an operator only labels them, by a merge patch. */
function unlabelling({ method, path, headers, body }: RecordedWrite): TransportRequest {
  const { metadata } = JSON.parse(body)
  const { labels = {}, annotations = {} } = metadata
  const gone = Object.entries({ labels, annotations }).map(([field, values]) => [field, withoutValues(values)])
  return { method, path, headers, body: JSON.stringify({ metadata: Object.fromEntries(gone) }) }
}

const withoutValues = (values: object) => Object.fromEntries(Object.keys(values).map((name) => [name, null]))

async function send(transport: Transport, { method, path, headers, body }: Omit<RecordedWrite, 'endedMs'>) {
  const response = await transport.send({ method, path, headers, body })
  const text = await textOf(response.body)
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text
}

/** Some writes name the version or the uid of their object, which differ when they are sent again. */
function withoutPrecondition(text: string): string {
  if (!text.includes('resourceVersion') && !text.includes('"uid"')) return text
  const value = JSON.parse(text)
  if (Array.isArray(value)) return JSON.stringify(value.filter(({ path }) => path !== '/metadata/resourceVersion'))
  const { resourceVersion: _version, uid: _uid, ...metadata } = value.metadata
  return JSON.stringify({ ...value, metadata })
}

function overVersion(text: string, resourceVersion: string): string {
  const object = JSON.parse(text)
  return JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion } })
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
