/** The HTTPS server: limits, life cycle, and from a request to a written answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Clock, systemClock } from '@reeve/kube'
import type { ServingCertificate } from '@reeve/runtime/certificates'
import type { CallOutcome } from '../call-log.ts'
import { SERVER_LIMITS } from '../defaults.ts'
import type { FaultyAnswer } from '../inject-faults.ts'
import { Call } from './call.ts'
import { Refusal, refusalAnswer } from './refusal.ts'
import { writeAnswer } from './write-answer.ts'

/** What the server asks to have a call answered and written down. */
export interface CallHandler {
  /** @param signal aborted when the client disconnects or the server stops */
  answer(call: Call, signal: AbortSignal): Promise<FaultyAnswer>
  /** Called before the answer is sent, so that a client that has it finds the call; the result is called after that. */
  record(call: Call, outcome: CallOutcome): (outcome: CallOutcome) => void
}

/** An HTTPS server that survives whatever is sent to it. */
export class HttpsServer {
  readonly #server: Server
  readonly #handler: CallHandler
  readonly #clock: Clock
  readonly #minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly #underWay = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #closed: Promise<void> | undefined

  constructor(
    handler: CallHandler,
    certificate: ServingCertificate,
    options: { readonly clock: Clock; readonly minVersion: 'TLSv1.2' | 'TLSv1.3' },
  ) {
    this.#handler = handler
    this.#clock = options.clock
    this.#minVersion = options.minVersion
    this.#server = createServer(
      {
        cert: certificate.certificate,
        key: certificate.privateKey,
        minVersion: options.minVersion,
        ALPNProtocols: ['http/1.1'],
        handshakeTimeout: SERVER_LIMITS.headersTimeoutMs,
        requestTimeout: SERVER_LIMITS.requestTimeoutMs,
        headersTimeout: SERVER_LIMITS.headersTimeoutMs,
        keepAliveTimeout: SERVER_LIMITS.keepAliveTimeoutMs,
      },
      (request, response) => {
        const served = this.#serve(request, response).finally(() => this.#underWay.delete(served))
        this.#underWay.add(served)
      },
    )
    this.#server.timeout = SERVER_LIMITS.idleTimeoutMs
    this.#server.maxConnections = SERVER_LIMITS.maxConnections
  }

  async listen(host: string, port: number): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
    return this.#server.address() as AddressInfo // a TCP server that listens has one
  }

  /** Shows another certificate from now on. Idle connections end, so that clients get to see it. */
  useCertificate({ certificate, privateKey }: ServingCertificate): void {
    this.#server.setSecureContext({ cert: certificate, key: privateKey, minVersion: this.#minVersion })
    this.#server.closeIdleConnections()
  }

  /** Sends the answers that are under way, for a while, and closes every connection. Answers that are delayed end. */
  close(): Promise<void> {
    this.#closed ??= this.#drain()
    return this.#closed
  }

  async #drain(): Promise<void> {
    this.#stop.abort(new DOMException('the simulator stops', 'AbortError'))
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    const patience = Promise.withResolvers<void>()
    // Sockets live in real time, whatever clock the simulator runs on.
    const timer = systemClock.schedule(SERVER_LIMITS.drainTimeoutMs, patience.resolve)
    await Promise.race([Promise.allSettled(this.#underWay), patience.promise])
    timer.cancel()
    this.#server.closeAllConnections()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const receivedMs = this.#clock.now()
    const gone = new AbortController()
    response.once('close', () => gone.abort(new DOMException('the connection was closed', 'AbortError')))
    // A client that goes away while its request is read is noticed through `close`.
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    if (this.#stop.signal.aborted) response.setHeader('connection', 'close')
    const call = readCall(request)
    if (call === undefined) {
      response.writeHead(400, { connection: 'close' }).end()
      return
    }
    const outcome = (status: number, sentBytes: number): CallOutcome => {
      return { receivedMs, durationMs: this.#clock.now() - receivedMs, status, sentBytes }
    }
    const answered = await this.#answer(call, AbortSignal.any([gone.signal, this.#stop.signal]))
    if (answered === undefined || gone.signal.aborted) {
      // Either the client disconnected, or it gets this error.
      response.destroy()
      this.#handler.record(call, outcome(0, 0))
      return
    }
    const { answer, cutAfterBytes } = answered
    const status = cutAfterBytes !== undefined && cutAfterBytes < 0 ? 0 : answer.status
    const complete = this.#handler.record(call, outcome(status, 0))
    // What is left of the body is not read, so the connection is of no more use.
    if (!request.complete && hasBody(request)) response.setHeader('connection', 'close')
    const isHead = call.method === 'HEAD'
    try {
      const sentBytes = await writeAnswer(response, answer, { isHead, signal: gone.signal, cutAfterBytes })
      complete(outcome(status, sentBytes))
    } catch {
      // Bytes that could not be made: the client sees an answer that breaks off.
      response.destroy()
    }
  }

  async #answer(call: Call, signal: AbortSignal): Promise<FaultyAnswer | undefined> {
    try {
      return await this.#handler.answer(call, signal)
    } catch (error) {
      if (signal.aborted) return undefined
      const reason = error instanceof Error ? error.message : String(error)
      return { answer: refusalAnswer('simulator', new Refusal(500, `Internal error of the simulator: ${reason}`)) }
    }
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function readCall(request: IncomingMessage): Call | undefined {
  if ((request.url?.length ?? 0) > SERVER_LIMITS.maxUrlLength) return undefined
  try {
    return new Call(request, SERVER_LIMITS.maxBodyBytes)
  } catch {
    // The target is not a URL: there is nothing to route.
    return undefined
  }
}
