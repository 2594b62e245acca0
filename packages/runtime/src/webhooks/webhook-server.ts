/** The HTTPS server that the API server calls. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Clock, Deadline, sleep, systemClock } from '@reeve/http'
import {
  type CertificateSource,
  firstCertificate,
  type ServingCertificate,
} from '../certificates/certificate-source.ts'
import { WEBHOOK_DEFAULTS } from '../defaults.ts'
import { InFlight } from '../lifecycle/in-flight.ts'
import { closeServer, Listener } from '../lifecycle/listener.ts'
import type { Runnable } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { overdue } from '../runtime-error.ts'
import { BodyBudget, parseDuration, readBody } from './request-body.ts'
import { sendBytes } from './send-response.ts'
import { BadReviewError } from './webhook-route.ts'
import type { HandleOptions, WebhookRouter } from './webhook-router.ts'

/** Options of {@link WebhookServer}. */
export interface WebhookServerOptions {
  /** New ones are used without closing a connection. */
  readonly certificates: CertificateSource
  /** @default '0.0.0.0' */
  readonly host?: string
  /** 0 takes a free one. @default 9443 */
  readonly port?: number
  /** A GET of this path returns 200 and no body: for probes over TLS. @default none */
  readonly livenessPath?: string
  /** Larger bodies are rejected with 413. @default 7 MiB */
  readonly maxBodyBytes?: number
  /** All bodies in progress together; beyond it requests are rejected with 503. @default 32 MiB */
  readonly maxBufferedBytes?: number
  /** From the first byte of a request to the last. @default 10_000 */
  readonly requestTimeoutMs?: number
  /** From the first byte of a request to the end of its headers. @default 5_000 */
  readonly headersTimeoutMs?: number
  /** After the stop signal: keep accepting for as long as it takes until no more requests are sent here. @default 0 */
  readonly lameDuckMs?: number
  /** How long requests in progress may take after that. @default 10_000 */
  readonly drainTimeoutMs?: number
  readonly clock?: Clock
  readonly logger?: Logger
}

/** The API server sends its timeout; the response has to arrive within it. */
const ANSWER_MARGIN_MS = 500

/**
 * Serves a {@link WebhookRouter} over TLS 1.3.
 *
 * *Guarantees*: no older TLS; bodies, headers, connections, memory and times are limited; a new certificate is used for new
 * connections while open ones continue; after the stop signal requests in progress are completed, connections are closed,
 * and none is left when `run` resolves.
 *
 * @example
 * const server = new WebhookServer(new WebhookRouter([validate, mutate]), { certificates, port: 9443 })
 * manager.add(certificates, server)
 */
export class WebhookServer implements Runnable {
  readonly name = 'webhooks'
  readonly needsLeadership = false
  readonly phase = 'webhooks'
  /** Listing objects that are stored in another version needs their conversion. */
  readonly isNeededByCaches: boolean
  readonly #router: WebhookRouter
  readonly #options: WebhookServerOptions
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #requests = new InFlight()
  readonly #sockets = new Set<Duplex>()
  readonly #bodies: BodyBudget
  readonly #listener: Listener
  #isDraining = false

  constructor(router: WebhookRouter, options: WebhookServerOptions) {
    this.#router = router
    this.isNeededByCaches = router.converts
    this.#options = options
    this.#bodies = new BodyBudget(options.maxBufferedBytes ?? WEBHOOK_DEFAULTS.maxBufferedBytes)
    this.#clock = options.clock ?? systemClock
    this.#logger = (options.logger ?? silentLogger).child({ server: 'webhooks' })
    this.#listener = new Listener(this.#logger, 'serving webhooks')
  }

  /** Resolves with the address once the server listens; rejects when it cannot. */
  address(): Promise<AddressInfo> {
    return this.#listener.address()
  }

  async whenReady(): Promise<void> {
    await this.#listener.address()
  }

  /** Handles a review without a socket. */
  handle(path: string, review: unknown, options?: HandleOptions): Promise<object> {
    return this.#router.handle(path, review, options)
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      const certificate = await firstCertificate(this.#options.certificates, signal)
      const server = this.#createServer(certificate)
      const unsubscribe = this.#options.certificates.subscribe((next) => this.#useCertificate(server, next))
      try {
        const { host = WEBHOOK_DEFAULTS.host, port = WEBHOOK_DEFAULTS.port } = this.#options
        const { maxConnections } = WEBHOOK_DEFAULTS
        await this.#listener.run(server, { host, port, maxConnections, signal, stop: () => this.#close(server) })
      } finally {
        unsubscribe()
      }
    } catch (error) {
      this.#listener.fail(error)
      if (!signal.aborted || error !== signal.reason) throw error
    }
  }

  #createServer({ certificate, privateKey }: ServingCertificate): Server {
    const requestTimeout = this.#options.requestTimeoutMs ?? WEBHOOK_DEFAULTS.requestTimeoutMs
    const headersTimeout = this.#options.headersTimeoutMs ?? WEBHOOK_DEFAULTS.headersTimeoutMs
    const server = createServer(
      {
        cert: certificate,
        key: privateKey,
        minVersion: 'TLSv1.3',
        ALPNProtocols: ['http/1.1'],
        handshakeTimeout: headersTimeout,
        requestTimeout,
        headersTimeout,
        keepAliveTimeout: WEBHOOK_DEFAULTS.keepAliveTimeoutMs,
        // Timeouts are only checked this often.
        connectionsCheckingInterval: Math.min(1_000, headersTimeout / 2),
      },
      (request, response) => void this.#serve(request, response),
    )
    server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    server.on('error', (error) => this.#logger.warn({ err: error }, 'webhook server error'))
    server.on('tlsClientError', (error) => this.#logger.debug({ err: error }, 'TLS handshake failed'))
    return server
  }

  #useCertificate(server: Server, { certificate, privateKey }: ServingCertificate): void {
    try {
      server.setSecureContext({ cert: certificate, key: privateKey, minVersion: 'TLSv1.3' })
    } catch (error) {
      this.#logger.error({ err: error }, 'could not use the new certificate, keeping the old one')
    }
  }

  async #close(server: Server): Promise<void> {
    const { lameDuckMs = 0, drainTimeoutMs = WEBHOOK_DEFAULTS.drainTimeoutMs } = this.#options
    this.#isDraining = true
    if (lameDuckMs > 0) await sleep(lameDuckMs, { clock: this.#clock })
    await closeServer(server, async () => {
      const onTimeout = overdue('responding to the last requests', drainTimeoutMs)
      using deadline = new Deadline(drainTimeoutMs, { clock: this.#clock, onTimeout })
      await this.#requests.whenIdle(deadline.signal).catch(() => {
        this.#logger.warn({ count: this.#requests.count }, 'aborted requests that took too long')
      })
      // A TLS handshake in progress is not a connection yet, and would stay open for as long as its client keeps it.
      for (const socket of this.#sockets) socket.destroy()
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const leave = this.#requests.enter()
    const gone = new AbortController()
    response.once('close', () => {
      // After a complete response nothing is left to abort, and the error with its stack would be built for every request.
      if (!response.writableFinished) gone.abort(new DOMException('the connection was closed', 'AbortError'))
      leave()
    })
    if (this.#isDraining) response.setHeader('connection', 'close')
    if (this.#isLivenessProbe(request)) {
      response.writeHead(200).end()
      return
    }
    try {
      const review = await this.#respond(request, gone.signal)
      const bytes = Buffer.from(JSON.stringify(review))
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
      await sendBytes(response, bytes)
    } catch (error) {
      if (error instanceof BadReviewError) refuse(request, response, error)
      else {
        this.#logger.error({ err: error }, 'could not respond to a webhook request')
        refuse(request, response, new BadReviewError(500, 'internal error'))
      }
    }
  }

  #isLivenessProbe({ method, url = '/' }: IncomingMessage): boolean {
    const { livenessPath } = this.#options
    return livenessPath !== undefined && method === 'GET' && url.split('?', 1)[0] === livenessPath
  }

  async #respond(request: IncomingMessage, signal: AbortSignal): Promise<object> {
    if (request.method !== 'POST') throw new BadReviewError(405, 'only POST is served')
    const [mediaType = ''] = (request.headers['content-type'] ?? '').split(';', 1)
    if (mediaType.trim().toLowerCase() !== 'application/json') {
      throw new BadReviewError(415, 'the body must be application/json')
    }
    const { path, timeout } = targetOf(request.url ?? '/')
    // Reserved until the review is handled: the parsed body is larger than its text.
    using share = this.#bodies.share()
    const body = await readBody(request, this.#options.maxBodyBytes ?? WEBHOOK_DEFAULTS.maxBodyBytes, share)
    const timeoutMs = parseDuration(timeout)
    return await this.#router.handleBytes(path, body, {
      signal,
      ...(timeoutMs !== undefined && { timeoutMs: Math.max(timeoutMs - ANSWER_MARGIN_MS, timeoutMs / 2) }),
    })
  }
}

/** As API servers write it. */
const PLAIN_TARGET = /^((?:\/[\w-]+)+)(?:\?timeout=(\w+))?$/

function targetOf(text: string): { readonly path: string; readonly timeout: string } {
  // Parsing a URL takes longer than parsing a small review.
  const [, path, timeout = ''] = PLAIN_TARGET.exec(text) ?? []
  if (path !== undefined) return { path, timeout }
  const target = URL.parse(text, 'https://local')
  if (target === null) throw new BadReviewError(400, 'the request target is not a valid URL')
  return { path: target.pathname, timeout: target.searchParams.get('timeout') ?? '' }
}

function refuse(request: IncomingMessage, response: ServerResponse, { status, message }: BadReviewError): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    ...(status === 405 && { allow: 'POST' }),
    ...(status === 503 && { 'retry-after': '1' }),
    // What is left of the body is not read, so the connection is of no more use.
    ...(!request.complete && { connection: 'close' }),
  })
  response.end(`${message}\n`)
}
