/** The transport between an instance of the operator and the cluster: everything passes here, and may fail here. */
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type Clock,
  sleep,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  untilAborted,
} from '@reeve/http'
import { withoutAmbient } from '../ambient/ambient-source.ts'
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import {
  DELIVER,
  type Disturbance,
  type EventFate,
  PASS,
  type RequestFate,
  type SeamEvent,
  type SeamRequest,
} from './disturbance.ts'
import { eventHead, type ObjectHead } from './object-head.ts'
import { describeRequest, requestFacts, selectionId } from './request-facts.ts'
import type { RunLog } from './run-log.ts'
import type { TraceKind } from './trace.ts'

/** What a seam needs of its world. */
export interface SeamContext {
  readonly cluster: EmbeddedCluster
  readonly clock: Clock
  readonly disturbance: Disturbance
  readonly log: RunLog
  record(instance: number, kind: TraceKind, text: string): void
  /** Called when the server has processed a request, whether its response arrives or not. */
  answered(request: SeamRequest, status: number, body: Uint8Array, sentMs: number): void
  /** On the clock of the world, since its start. */
  readonly elapsedMs: number
  /** Ports of this machine by the Service that they serve, such as `system/webhooks`. @default webhooks are not called */
  readonly services?: Map<string, number>
}

const EXPIRED = `${JSON.stringify({
  type: 'ERROR',
  object: {
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    reason: 'Expired',
    code: 410,
    message: 'too old resource version',
  },
})}\n`

const EMPTY = new Uint8Array()

/** A broken connection, as a socket reports it. */
function connectionReset(): Error {
  return Object.assign(new Error('connection reset by the exploration'), { code: 'ECONNRESET' })
}

/** The connections of one instance. Killing it leaves every request without a response, as a lost process does. */
export class Seam implements Transport {
  readonly #world: SeamContext
  readonly #instance: number
  readonly #killed = new AbortController()
  readonly #buried = new AbortController()

  constructor(world: SeamContext, instance: number) {
    this.#world = world
    this.#instance = instance
  }

  get isKilled(): boolean {
    return this.#killed.signal.aborted
  }

  /** Aborts when it is killed. */
  get killed(): AbortSignal {
    return this.#killed.signal
  }

  /** Nothing that the instance sends from now on arrives anywhere, and nothing reaches it. */
  kill(): void {
    this.#killed.abort(new Error('the instance was killed'))
  }

  /** Ends all waits in a killed instance, so that nothing of it stays in memory. */
  bury(): void {
    this.kill()
    this.#buried.abort(new Error('the world has ended'))
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    if (this.isKilled) return this.#never()
    const facts = requestFacts(request)
    const passing: SeamRequest = { ...facts, index: this.#world.log.nextRequest(facts), instance: this.#instance }
    const { disturbance } = this.#world
    this.#record('request', describeRequest(facts))
    const fate = disturbance.onRequest === undefined ? PASS : await disturbance.onRequest(passing)
    if (this.isKilled) return this.#never()
    if (fate.type === 'reset') throw connectionReset()
    if (fate.type === 'reject') return rejection(passing.index, fate)
    const signal = AbortSignal.any([...(request.signal ? [request.signal] : []), this.#killed.signal])
    await this.#travel(fate, signal)
    if (this.isKilled) return this.#never()
    const path = fate.type === 'past' ? pathInThePast(request.path, fate.resourceVersion) : request.path
    const sentMs = this.#world.elapsedMs
    // The cluster is not under test: it has its own clock and source of randomness.
    const response = await withoutAmbient(() => this.#world.cluster.handle({ ...request, path, signal }))
    const isStream = facts.verb === 'watch' && response.status === 200
    // The whole response exists before its fate is decided: the write is committed, whatever happens next.
    const content = isStream ? EMPTY : await withoutAmbient(() => collect(response.body))
    this.#world.answered(passing, response.status, content, sentMs)
    if (this.isKilled) return this.#never()
    this.#record('response', `${response.status} ${describeRequest(facts)}`)
    const body = isStream ? this.#events(response.body, passing, signal) : whole(content)
    const end = disturbance.onResponse?.(passing, response.status) ?? DELIVER
    if (end.type === 'reset') throw connectionReset()
    if (end.type === 'lose')
      return end.lastsMs === undefined ? this.#never(request.signal) : this.#silence(end.lastsMs, signal)
    return { ...response, body }
  }

  /** A request takes some time to arrive: a loop of requests takes time, as it would over a network. */
  async #travel(fate: RequestFate, signal: AbortSignal): Promise<void> {
    const { clock } = this.#world
    const delayMs = EXPLORATION_DEFAULTS.latencyMs + (fate.type === 'delay' ? fate.delayMs : 0)
    await sleep(delayMs, { clock, signal }).catch((error: unknown) => {
      if (!this.isKilled) throw error
    })
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** No response, until the caller aborts or the world ends. */
  #never(signal?: AbortSignal): Promise<never> {
    const { signal: buried } = this.#buried
    return untilAborted(never(), signal === undefined ? buried : AbortSignal.any([signal, buried]))
  }

  #record(kind: TraceKind, text: string): void {
    this.#world.record(this.#instance, kind, text)
  }

  async *#events(
    body: AsyncIterable<Uint8Array>,
    request: SeamRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const { clock, disturbance } = this.#world
    for await (const line of lines(body)) {
      if (this.isKilled) await this.#never()
      const event = this.#eventOf(line, request)
      const fate: EventFate = disturbance.onEvent?.(event) ?? DELIVER
      if (this.isKilled) await this.#never()
      if (fate.type === 'delay') await sleep(fate.delayMs, { clock, signal })
      if (fate.type === 'silence') await this.#silence(fate.lastsMs, signal)
      if (fate.type === 'stall-and-expire') {
        await sleep(fate.stallMs, { clock, signal })
      } else {
        this.#record('event', describeEvent(event))
        yield line
      }
      if (fate.type === 'expire' || fate.type === 'stall-and-expire') {
        this.#record('event', `ERROR 410 ${request.resource}`)
        yield Buffer.from(EXPIRED)
        return
      }
    }
    if (this.isKilled) await this.#never()
  }

  /** Nothing arrives, until the client gives up or the connection breaks. */
  async #silence(lastsMs: number | undefined, signal: AbortSignal): Promise<never> {
    if (lastsMs === undefined) return untilAborted(never(), signal)
    await sleep(lastsMs, { clock: this.#world.clock, signal })
    throw connectionReset()
  }

  #eventOf(line: Uint8Array, request: SeamRequest): SeamEvent {
    const { resource, instance } = request
    const { type, namespace, name, resourceVersion } = eventHead(line) ?? parsedEvent(line)
    const selection = selectionId(request)
    const event = { index: -1, instance, resource, selection, type, resourceVersion, namespace, name }
    return { ...event, index: this.#world.log.nextEvent(describeEvent(event)) }
  }
}

function parsedEvent(line: Uint8Array): ObjectHead & { readonly type: string } {
  const { type, object } = JSON.parse(Buffer.from(line).toString('utf8')) as {
    readonly type: string
    readonly object: { readonly metadata?: ObjectHead }
  }
  return { ...object.metadata, type }
}

/** Requests a list at a revision. The pages after the first have that in their token. */
function pathInThePast(path: string, resourceVersion: string): string {
  const [pathname = '', text = ''] = path.split('?')
  const query = new URLSearchParams(text)
  if (query.has('continue')) return path
  query.set('resourceVersion', resourceVersion)
  query.set('resourceVersionMatch', 'Exact')
  return `${pathname}?${query}`
}

/** `MODIFIED deployments.apps default/shop`. */
export function describeEvent({ type, resource, namespace, name }: SeamEvent): string {
  const key = [namespace, name].filter((part) => part !== undefined && part !== '').join('/')
  return key === '' ? `${type} ${resource}` : `${type} ${resource} ${key}`
}

/** @param index of the request: like an audit id, it makes the text of each rejection another one */
function rejection(
  index: number,
  fate: { readonly code: number; readonly reason: string; readonly retryAfterSeconds?: number },
) {
  const { code, reason, retryAfterSeconds } = fate
  const status = {
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    code,
    reason,
    message: `rejected with ${code} by the exploration, request ${index + 1}`,
    ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
  }
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  return { status: code, headers, body: whole(Buffer.from(JSON.stringify(status))) }
}

async function* whole(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** A new one each time: waiters of a shared one would stay referenced forever. */
const never = () => new Promise<never>(() => undefined)

/** Splits at newlines: several events may share a chunk, never the other way round. */
async function* lines(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield chunk.subarray(start, end + 1)
      start = end + 1
    }
  }
}
