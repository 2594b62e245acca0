/** The TLS front: HTTP/1.1 and HTTP/2 on one port, in front of the handler without sockets. */
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { methodNotAllowed } from '../api/api-errors.ts'
import type { UserInfo } from '../api/user.ts'
import { userFromCertificate } from '../auth/authenticate.ts'
import type { Clock } from '../clock.ts'
import { ConnectionReset } from '../faults/fault.ts'
import type { ServerRequest, ServerResponse } from './exchange.ts'
import { errorResponse, targetPath } from './malformed-request.ts'
import { bodyTooLarge, MAX_BODY_BYTES } from './request-body.ts'
import { CompleteBody, failure, text } from './response.ts'

/** Options of {@link Front}. */
export interface FrontOptions {
  readonly handle: (request: ServerRequest) => Promise<ServerResponse>
  readonly clock: Clock
  /** In PEM. */
  readonly certificate: string
  readonly privateKey: string
  /** The authority that verifies client certificates, in PEM. */
  readonly clientAuthority: string
  /** @default '127.0.0.1' */
  readonly host?: string
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
/** Smaller responses are not worth compressing on the same machine or network. */
const GZIP_ABOVE_BYTES = 128 * 1024
/** A client that has not sent its whole request by then is disconnected. */
const BODY_TIMEOUT_MS = 60_000
/** Iterations of the event loop that a stop waits for responses in progress. */
const DRAIN_TURNS = 100
/** The same limit as the real server. */
const MAX_HEADER_BYTES = 1024 * 1024
/** The types of Node's HTTP/2 server omit the HTTP/1.1 options that it also supports. */
const http1Limits = {
  maxHeaderSize: MAX_HEADER_BYTES,
  // The same as the real server. A connection that closes at the moment it is reused loses the request.
  keepAliveTimeout: 90_000,
}
/**
 * How much of an oversized body is read and discarded, for clients that read the response only after sending
 * everything.
 */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024

/** An address that the server listens on. */
export interface ListenAddress {
  readonly address: string
  readonly port: number
}

/** Listens, and can stop listening and listen again on the same port, like a restarting server. */
export class Front {
  readonly #options: FrontOptions
  readonly #sockets = new Set<Socket>()
  readonly #secureSockets = new Set<TLSSocket>()
  readonly #users = new WeakMap<TLSSocket, UserInfo | 'refused' | 'none'>()
  #activeResponses = 0
  #server: Http2SecureServer | undefined
  #address: ListenAddress = { address: '', port: 0 }

  constructor(options: FrontOptions) {
    this.#options = options
  }

  /** The port of the last {@link listen}. */
  get port(): number {
    return this.#address.port
  }

  /** The address of the last {@link listen}, with names resolved. */
  get address(): ListenAddress {
    return this.#address
  }

  /** Starts accepting connections. Port 0 chooses an unused one. */
  async listen(port: number): Promise<void> {
    const { certificate, privateKey, clientAuthority, host = '127.0.0.1' } = this.#options
    const server = createSecureServer({
      allowHTTP1: true,
      cert: certificate,
      key: privateKey,
      ca: clientAuthority,
      requestCert: true,
      // A client without a certificate is anonymous or uses a token; one with an invalid certificate is rejected later.
      rejectUnauthorized: false,
      maxHeaderListPairs: 10_000,
      ...http1Limits,
      settings: { maxConcurrentStreams: 1000, maxHeaderListSize: MAX_HEADER_BYTES },
    })
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
      // Connection resets by the peer are common; the request on the socket gets its own events.
      socket.on('error', () => socket.destroy())
    })
    server.on('secureConnection', (socket) => {
      this.#secureSockets.add(socket)
      socket.on('close', () => this.#secureSockets.delete(socket))
      socket.on('error', () => socket.destroy())
    })
    server.on('sessionError', () => undefined)
    server.on('clientError', (error, socket) => {
      if (socket.writable) socket.end(errorResponse(error))
      else socket.destroy()
    })
    server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
      void this.#serve(request, response)
    })
    server.on('upgrade', (request: Http2ServerRequest, socket: Duplex, head: Buffer) => {
      void this.#upgrade(request, socket, head)
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.off('error', reject)
        resolve()
      })
    })
    server.on('error', () => undefined)
    this.#server = server
    const { address, port: boundPort } = server.address() as AddressInfo
    this.#address = { address, port: boundPort }
  }

  /** Stops listening, delivers complete responses, and closes every connection. Streams must have been ended before. */
  async drain(): Promise<void> {
    for (let turn = 0; turn < DRAIN_TURNS && this.#activeResponses > 0; turn += 1) await setImmediate()
    for (const socket of this.#secureSockets) socket.destroySoon()
    for (let turn = 0; turn < DRAIN_TURNS && this.#secureSockets.size > 0; turn += 1) await setImmediate()
    await this.close()
  }

  /** Stops listening and closes every connection. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    await new Promise<void>((resolve) => {
      server.close(() => resolve())
      this.cutConnections()
    })
  }

  /** Closes every connection and continues to listen. */
  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #serve(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const abort = new AbortController()
    this.#activeResponses += 1
    response.on('close', () => abort.abort(new Error('the client closed the connection')))
    response.on('error', () => abort.abort(new Error('the connection failed')))
    request.on('error', () => abort.abort(new Error('the connection failed')))
    try {
      const answer = await this.#answer(request, abort.signal)
      await send(request, response, answer, abort.signal)
    } catch (error) {
      // The client has disconnected, or a fault rule breaks the connection.
      if (error instanceof ConnectionReset || abort.signal.aborted) cut(request, response)
      else if (response.headersSent) cut(request, response)
      else await send(request, response, failure(error), abort.signal).catch(() => cut(request, response))
    } finally {
      this.#activeResponses -= 1
    }
  }

  /** Requests to streams of pods; the response is written here, because Node leaves the socket to its receiver. */
  async #upgrade(request: Http2ServerRequest, socket: Duplex, head: Buffer): Promise<void> {
    const abort = new AbortController()
    socket.on('close', () => abort.abort(new Error('the client closed the connection')))
    socket.on('error', () => socket.destroy())
    try {
      const answer = await this.#answer(request, abort.signal, async () => Buffer.alloc(0))
      const { sendUpgrade } = await import('./send-upgrade.ts')
      await sendUpgrade(socket, head, answer)
    } catch {
      // A fault rule breaks the connection, or the client has disconnected.
      socket.destroy()
    }
  }

  async #answer(
    request: Http2ServerRequest,
    signal: AbortSignal,
    read: typeof readBody = readBody,
  ): Promise<ServerResponse> {
    const { method } = request
    const path = targetPath(request.url)
    const repeated = repeatedHeaders(request)
    if (path === undefined || 'host' in repeated) return text(400, '400 Bad Request')
    if (!methods.has(method)) return failure(methodNotAllowed())
    const user = this.#certificateUser(request)
    if (user === 'refused') {
      const { unauthorized } = await import('../auth/authenticate.ts')
      return failure(unauthorized())
    }
    const body = await read(request, this.#options.clock, signal)
    if (body === 'too large') return failure(bodyTooLarge())
    return this.#options.handle({
      // Checked against the set of methods above.
      method: method as ServerRequest['method'],
      path,
      headers: plainHeaders(request),
      repeatedHeaders: repeated,
      signal,
      ...(body.length === 0 ? {} : { body }),
      ...(user === undefined ? {} : { user }),
    })
  }

  /** Decoding a certificate takes longer than many requests, and that of a connection does not change. */
  #certificateUser(request: Http2ServerRequest): UserInfo | 'refused' | undefined {
    const socket = request.stream?.session?.socket ?? request.socket
    if (!(socket instanceof TLSSocket)) return undefined
    let user = this.#users.get(socket)
    if (user === undefined) {
      user = certificateUser(socket) ?? 'none'
      this.#users.set(socket, user)
    }
    return user === 'none' ? undefined : user
  }
}

function plainHeaders(request: Http2ServerRequest): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name.startsWith(':')) continue
    headers[name] = Array.isArray(value) ? value.join(',') : value
  }
  return headers
}

/** Node joins repeated headers with commas, which the values themselves may contain. */
function repeatedHeaders({ rawHeaders }: Http2ServerRequest): Record<string, readonly string[]> {
  const all = new Map<string, string[]>()
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    const values = all.get(name)
    if (values === undefined) all.set(name, [rawHeaders[index + 1] ?? ''])
    else values.push(rawHeaders[index + 1] ?? '')
  }
  return Object.fromEntries([...all].filter(([, values]) => values.length > 1))
}

function certificateUser(socket: TLSSocket): UserInfo | 'refused' | undefined {
  const certificate = socket.getPeerCertificate()
  if (certificate === null || Object.keys(certificate).length === 0) return undefined
  return socket.authorized ? userFromCertificate(certificate) : 'refused'
}

async function readBody(request: Http2ServerRequest, clock: Clock, signal: AbortSignal): Promise<Buffer | 'too large'> {
  const chunks: Buffer[] = []
  let size = 0
  const timer = clock.schedule(BODY_TIMEOUT_MS, () => request.destroy())
  try {
    for await (const chunk of request) {
      signal.throwIfAborted()
      size += chunk.length
      if (size <= MAX_BODY_BYTES) chunks.push(chunk)
      else chunks.length = 0
      // Bytes of a finished request count against the window of the HTTP/2 connection, so they are read first.
      if (size > MAX_DISCARDED_BYTES) break
    }
  } finally {
    timer.cancel()
  }
  return size > MAX_BODY_BYTES ? 'too large' : Buffer.concat(chunks)
}

async function send(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  answer: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (response.closed || response.destroyed) return
  response.statusCode = answer.status
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined) response.setHeader(name, typeof value === 'string' ? value : [...value])
  }
  if (answer.body instanceof CompleteBody) {
    sendComplete(request, response, answer.body)
    return
  }
  // Both kinds of response have it; a watch must be visibly open before its first event.
  if ('flushHeaders' in response && typeof response.flushHeaders === 'function') response.flushHeaders()
  for await (const chunk of answer.body) {
    signal.throwIfAborted()
    if (!response.write(chunk)) await drained(response, signal)
    // The first event is sent at once. Those that follow in the same iteration of the event loop are read together
    // afterwards: one write for each of them would cost more than everything else.
    await setImmediate()
  }
  response.end()
}

function sendComplete(request: Http2ServerRequest, response: Http2ServerResponse, body: CompleteBody): void {
  const { length } = body
  const accepted = request.headers['accept-encoding']
  if (length > GZIP_ABOVE_BYTES && typeof accepted === 'string' && /\bgzip\b/.test(accepted)) {
    response.setHeader('content-encoding', 'gzip')
    response.setHeader('vary', 'Accept-Encoding')
    response.end(gzipSync(Buffer.concat(body.chunks), { level: 1 }))
    return
  }
  response.setHeader('content-length', String(length))
  const [only] = body.chunks
  if (only === undefined) response.end()
  else response.end(body.chunks.length === 1 ? only : Buffer.concat(body.chunks))
}

/** Waits until the client has read the buffered data, so that a slow client only slows down itself. */
async function drained(response: Http2ServerResponse, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = () => {
      response.off('drain', finish)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    response.once('drain', finish)
    signal.addEventListener('abort', finish, { once: true })
  })
  signal.throwIfAborted()
}

function cut(request: Http2ServerRequest, response: Http2ServerResponse): void {
  if (response.stream !== undefined && response.stream !== null) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  else request.socket.destroy()
}
