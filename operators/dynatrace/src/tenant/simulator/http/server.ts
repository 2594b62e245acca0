/** The HTTPS server: limits, life cycle, and the way from a request to its response. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Clock, systemClock } from '@reeve/http'
import type { ServingCertificate } from '@reeve/runtime/certificates'
import type { CallOutcome } from '../call-log.ts'
import { SERVER_LIMITS } from '../defaults.ts'
import type { FaultyResponse } from '../inject-faults.ts'
import { Refusal } from '../refusal.ts'
import { Call } from './call.ts'
import { errorResponse } from './error-response.ts'
import { writeResponse } from './write-response.ts'

/** Responds to calls and records them. */
export interface CallHandler {
  /** @param signal aborted when the client disconnects or the server stops */
  respond(call: Call, signal: AbortSignal): Promise<FaultyResponse>
  /** Called before the response is sent, so that a client that has it finds the call; call the result afterwards. */
  record(call: Call, outcome: CallOutcome): (outcome: CallOutcome) => void
}

/** An HTTPS server with limits on everything that clients send. */
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

  /** Uses another certificate from now on. Idle connections are closed, so that clients see it. */
  useCertificate({ certificate, privateKey }: ServingCertificate): void {
    this.#server.setSecureContext({ cert: certificate, key: privateKey, minVersion: this.#minVersion })
    this.#server.closeIdleConnections()
  }

  /** Waits, with a deadline, for responses that are being sent, and closes every connection. Delayed responses are aborted. */
  close(): Promise<void> {
    this.#closed ??= this.#drain()
    return this.#closed
  }

  async #drain(): Promise<void> {
    this.#stop.abort(new DOMException('the simulator stops', 'AbortError'))
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    const patience = Promise.withResolvers<void>()
    // Sockets run in real time, whatever clock the simulator uses.
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
    // A client that disconnects while its request is read is noticed by `close`.
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
    const faulty = await this.#respond(call, AbortSignal.any([gone.signal, this.#stop.signal]))
    if (faulty === undefined || gone.signal.aborted) {
      // Either the client disconnected, or it gets this error.
      response.destroy()
      this.#handler.record(call, outcome(0, 0))
      return
    }
    const { response: simulated, cutAfterBytes } = faulty
    const status = cutAfterBytes !== undefined && cutAfterBytes < 0 ? 0 : simulated.status
    const complete = this.#handler.record(call, outcome(status, 0))
    // The rest of the body is not read, so the connection cannot be reused.
    if (!request.complete && hasBody(request)) response.setHeader('connection', 'close')
    const isHead = call.method === 'HEAD'
    try {
      const sentBytes = await writeResponse(response, simulated, { isHead, signal: gone.signal, cutAfterBytes })
      complete(outcome(status, sentBytes))
    } catch {
      // The body could not be generated: the client sees a response that is cut.
      response.destroy()
    }
  }

  async #respond(call: Call, signal: AbortSignal): Promise<FaultyResponse | undefined> {
    try {
      return await this.#handler.respond(call, signal)
    } catch (error) {
      if (signal.aborted) return undefined
      const reason = error instanceof Error ? error.message : String(error)
      return { response: errorResponse('simulator', new Refusal(500, `Internal error of the simulator: ${reason}`)) }
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
