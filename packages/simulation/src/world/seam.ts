/** The transport between an instance of the operator and the cluster: everything passes here, and may go wrong here. */
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type Clock,
  sleep,
  type Transport,
  type TransportRequest,
  type TransportResponse,
  untilAborted,
} from '@reeve/kube'
import { DELIVER, type Disturbance, type EventFate, PASS, type SeamEvent, type SeamRequest } from './disturbance.ts'
import { describeRequest, requestFacts, selectionId } from './request-facts.ts'
import type { TraceKind } from './trace.ts'

/** What a seam needs of its world. */
export interface SeamContext {
  readonly cluster: EmbeddedCluster
  readonly clock: Clock
  readonly disturbance: Disturbance
  nextRequest(): number
  nextEvent(): number
  record(instance: number, kind: TraceKind, text: string): void
  answered(request: SeamRequest, status: number): void
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

/** A broken connection, as a socket reports it. */
function connectionReset(): Error {
  return Object.assign(new Error('connection reset by the exploration'), { code: 'ECONNRESET' })
}

/** The connections of one instance. Killing it leaves every request without an answer, as a lost process does. */
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

  /** Ends the wait of whoever still waits in a killed instance, so that nothing of it stays in memory. */
  bury(): void {
    this.kill()
    this.#buried.abort(new Error('the world has ended'))
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    if (this.isKilled) return this.#never()
    const facts = requestFacts(request)
    const passing: SeamRequest = { ...facts, index: this.#world.nextRequest(), instance: this.#instance }
    const { disturbance, clock } = this.#world
    this.#record('request', describeRequest(facts))
    const fate = disturbance.onRequest === undefined ? PASS : await disturbance.onRequest(passing)
    if (this.isKilled) return this.#never()
    if (fate.type === 'reset') throw connectionReset()
    if (fate.type === 'refuse') return refusal(fate)
    const signal = AbortSignal.any([...(request.signal ? [request.signal] : []), this.#killed.signal])
    if (fate.type === 'delay') await sleep(fate.delayMs, { clock, signal }).catch(rethrowUnless(this.#killed.signal))
    if (this.isKilled) return this.#never()
    const path = fate.type === 'past' ? pathInThePast(request.path, fate.resourceVersion) : request.path
    const response = await this.#world.cluster.handle({ ...request, path, signal })
    this.#world.answered(passing, response.status)
    if (this.isKilled) return this.#never()
    this.#record('response', `${response.status} ${describeRequest(facts)}`)
    const isStream = facts.verb === 'watch' && response.status === 200
    // The whole answer exists before its fate is decided: the write is committed, whatever happens now.
    const body = isStream ? this.#events(response.body, passing, signal) : whole(await collect(response.body))
    const end = disturbance.onResponse?.(passing, response.status) ?? DELIVER
    if (end.type === 'reset') throw connectionReset()
    if (end.type === 'lose') return this.#never(request.signal)
    return { ...response, body }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  /** No answer, until the caller gives up or the world ends. */
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
      if (fate.type === 'silence') await untilAborted(never(), signal)
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

  #eventOf(line: Uint8Array, request: SeamRequest): SeamEvent {
    const { resource, instance } = request
    const { type, object } = JSON.parse(Buffer.from(line).toString('utf8')) as {
      readonly type: string
      readonly object: {
        readonly metadata?: { readonly namespace?: string; readonly name?: string; readonly resourceVersion?: string }
      }
    }
    const { namespace, name, resourceVersion } = object.metadata ?? {}
    const selection = selectionId(request)
    return { index: this.#world.nextEvent(), instance, resource, selection, type, resourceVersion, namespace, name }
  }
}

/** Only reads that accept any age may be answered from the past; all others are promised to be consistent. */
function pathInThePast(path: string, resourceVersion: string): string {
  return path.replace(
    /([?&])resourceVersion=0(?=&|$)/,
    `$1resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
  )
}

/** `MODIFIED deployments.apps default/shop`. */
export function describeEvent({ type, resource, namespace, name }: SeamEvent): string {
  const key = [namespace, name].filter((part) => part !== undefined && part !== '').join('/')
  return key === '' ? `${type} ${resource}` : `${type} ${resource} ${key}`
}

function rethrowUnless(killed: AbortSignal): (error: unknown) => Promise<void> {
  return async (error) => {
    if (!killed.aborted) throw error
  }
}

function refusal(fate: { readonly code: number; readonly reason: string; readonly retryAfterSeconds?: number }) {
  const { code, reason, retryAfterSeconds } = fate
  const status = {
    apiVersion: 'v1',
    kind: 'Status',
    status: 'Failure',
    code,
    reason,
    message: `refused with ${code} by the exploration`,
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

/** A new one each time: whoever waits on a shared one stays referenced for ever. */
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
