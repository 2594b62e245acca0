/** The server of the console: the page, the API and live updates, to those who may see them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, systemClock } from '@reeve/http'
import { type Logger, silentLogger } from '@reeve/runtime'
import { closeServer, Listener, type Runnable } from '@reeve/runtime/manager'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { ConsoleModel } from '../model/console-model.ts'
import type { PageFiles } from '../page/page-files.ts'
import { type ConsoleAccess, LocalAccess } from './access.ts'
import { streamEvents } from './event-stream.ts'
import { BodyError, readBody } from './read-body.ts'
import { isLoopback, refusalOf } from './request-checks.ts'
import { json, problem, send, type WholeResponse } from './response.ts'
import { respond } from './routes.ts'
import { Sessions } from './sessions.ts'

/** Options of {@link ConsoleServer}. */
export interface ConsoleServerOptions {
  readonly model: ConsoleModel
  readonly page: PageFiles
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 takes a free one. @default 0 */
  readonly port?: number
  /** @default a random token */
  readonly access?: ConsoleAccess
  /** Serves TLS with this certificate. Required for addresses other than loopback. @default plain HTTP */
  readonly certificate?: () => Promise<{ readonly certificate: string; readonly privateKey: string }>
  /** Names by which it may be called, besides IP addresses and localhost. @default none */
  readonly names?: readonly string[]
  readonly logger?: Logger
  readonly clock?: Clock
}

const CLUSTER_REFUSAL =
  'this account may not open the console: it needs get on the non-resource URL /console, such as by kubectl create ' +
  'clusterrolebinding <name> --clusterrole=<release>-console-reader --serviceaccount=<namespace>:<account>'

/** A token that could not be valid is not checked. */
const MAX_TOKEN_LENGTH = 16_384

/**
 * Serves the console until it is stopped.
 *
 * *Errors*: it cannot be created for an address that others reach without TLS and an access of the cluster.
 *
 * @example
 * const server = new ConsoleServer({ model, page: await loadPage() })
 * const running = server.run(signal)
 * console.log(await server.link())
 */
export class ConsoleServer implements Runnable {
  readonly name = 'console'
  readonly needsLeadership = false
  readonly phase = 'servers'
  readonly #options: ConsoleServerOptions
  readonly #access: ConsoleAccess
  readonly #sessions: Sessions
  readonly #logger: Logger
  readonly #isLocal: boolean
  readonly #listener: Listener
  readonly #stop = new AbortController()
  #streams = 0
  #port = 0

  constructor(options: ConsoleServerOptions) {
    const { host = '127.0.0.1', access = new LocalAccess(), certificate } = options
    this.#options = options
    this.#access = access
    this.#isLocal = isLoopback(host)
    if (!this.#isLocal && (certificate === undefined || access instanceof LocalAccess)) {
      throw new Error(`the console cannot listen on ${host} without TLS and the accounts of the cluster: use 127.0.0.1`)
    }
    this.#sessions = new Sessions(options.clock ?? systemClock)
    this.#logger = (options.logger ?? silentLogger).child({ server: this.name })
    this.#listener = new Listener(this.#logger, 'serving the console')
  }

  /** Resolves with the address once the server listens; rejects when it cannot. */
  address(): Promise<AddressInfo> {
    return this.#listener.address()
  }

  /** What to open in a browser. With a random token, which stays on this machine: it is in the fragment. */
  async link(): Promise<string> {
    const { address, port } = await this.#listener.address()
    const scheme = this.#options.certificate === undefined ? 'http' : 'https'
    const host = address.includes(':') ? `[${address}]` : address
    const fragment = this.#access instanceof LocalAccess ? `#token=${this.#access.token}` : ''
    return `${scheme}://${host}:${port}/${fragment}`
  }

  async whenReady(): Promise<void> {
    await this.#listener.address()
  }

  async run(signal: AbortSignal): Promise<void> {
    const server = await this.#createServer()
    server.headersTimeout = CONSOLE_LIMITS.requestTimeoutMs
    server.requestTimeout = CONSOLE_LIMITS.requestTimeoutMs
    const sampling = this.#options.model.run(this.#stop.signal)
    const { host = '127.0.0.1', port = 0 } = this.#options
    const stop = () => {
      // Streams would go on for ever.
      this.#stop.abort()
      return closeServer(server)
    }
    const onListening = (address: AddressInfo) => {
      this.#port = address.port
    }
    try {
      const { connections: maxConnections } = CONSOLE_LIMITS
      await this.#listener.run(server, { host, port, maxConnections, signal, stop, onListening })
    } finally {
      this.#stop.abort()
      await sampling
    }
  }

  async #createServer(): Promise<Server> {
    const onRequest = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response)
    const { certificate } = this.#options
    if (certificate === undefined) return createServer(onRequest)
    const [{ createServer: createTlsServer }, { certificate: cert, privateKey: key }] = await Promise.all([
      import('node:https'),
      certificate(),
    ])
    return createTlsServer({ cert, key, minVersion: 'TLSv1.3' }, onRequest)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const whole = await this.#handle(request, response)
      if (whole !== undefined) await send(request, response, whole)
    } catch (error) {
      if (response.destroyed) return
      this.#logger.error({ err: error, method: request.method }, 'could not respond to a request of the console')
      if (response.headersSent) response.destroy()
      else await send(request, response, problem(500, 'internal error: the log of the operator has the reason'))
    }
  }

  /** Returns the response, unless it was sent already. */
  async #handle(request: IncomingMessage, response: ServerResponse): Promise<WholeResponse | undefined> {
    const method = request.method ?? ''
    const served = { isLocal: this.#isLocal, names: this.#options.names ?? [] }
    const refusal = refusalOf({ method, headers: request.headers }, served)
    if (refusal !== undefined) return problem(refusal.status, refusal.message)
    const url = new URL(request.url ?? '/', 'http://console')
    if (!url.pathname.startsWith('/api/')) return this.#pageFile(method, url.pathname)
    if (url.pathname === '/api/session') return this.#session(method, request)
    const isAllowed = () => this.#check(request)
    const verdict = await isAllowed()
    if (verdict !== 200) return this.#denied(verdict)
    const abort = new AbortController()
    response.once('close', () => abort.abort())
    const signal = AbortSignal.any([abort.signal, this.#stop.signal])
    if (url.pathname === '/api/stream' && method === 'GET') {
      return this.#stream(response, async () => (await isAllowed()) === 200, signal)
    }
    try {
      const body = method === 'POST' ? await readBody(request) : undefined
      return (await respond(this.#options.model, { method, url, body, signal })) ?? problem(404, 'not found')
    } catch (error) {
      if (error instanceof BodyError) return problem(error.status, error.message)
      throw error
    }
  }

  async #stream(
    response: ServerResponse,
    isAllowed: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<WholeResponse | undefined> {
    if (this.#streams >= CONSOLE_LIMITS.streams) return problem(503, 'too many open consoles: close one of them')
    this.#streams += 1
    try {
      await streamEvents(response, { listen: (listener) => this.#options.model.listen(listener), isAllowed, signal })
    } finally {
      this.#streams -= 1
    }
    return undefined
  }

  #pageFile(method: string, path: string): WholeResponse {
    if (method !== 'GET' && method !== 'HEAD') return problem(405, 'the console is read-only')
    const file = this.#options.page.get(path === '/' ? '/index.html' : path)
    if (file === undefined) return problem(404, 'not found')
    const { contentType, body, isImmutable } = file
    const headers = { 'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-store' }
    return { status: 200, contentType, body, headers }
  }

  /** POST begins a session with a token, DELETE ends it, GET says what is needed for one. */
  async #session(method: string, request: IncomingMessage): Promise<WholeResponse> {
    const cookie = this.#cookieOf(request)
    if (method === 'DELETE') {
      if (cookie !== undefined) this.#sessions.end(cookie)
      return json({}, 200, { 'set-cookie': this.#cookie('', 0) })
    }
    if (method !== 'POST') return json({ hint: this.#access.hint })
    const body = await readBody(request).catch((error: unknown) => {
      if (error instanceof BodyError) return undefined
      throw error
    })
    const token = (body as { readonly token?: unknown } | undefined)?.token
    if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH) return this.#denied(401)
    const verdict = await this.#access.check(token.trim(), this.#stop.signal)
    if (verdict !== 200) return this.#denied(verdict)
    const maxAge = CONSOLE_LIMITS.sessionIdleMs / 1_000
    return json({}, 200, { 'set-cookie': this.#cookie(this.#sessions.begin(token.trim()), maxAge) })
  }

  #denied(verdict: 401 | 403 | 503): WholeResponse {
    const messages = {
      401: this.#access.hint,
      403: CLUSTER_REFUSAL,
      503: 'the API server could not be asked whether this account may open the console',
    }
    return problem(verdict, messages[verdict])
  }

  async #check(request: IncomingMessage): Promise<200 | 401 | 403 | 503> {
    const [, bearer] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
    const cookie = this.#cookieOf(request)
    const token = bearer ?? (cookie === undefined ? undefined : this.#sessions.tokenOf(cookie))
    if (token === undefined || token.length > MAX_TOKEN_LENGTH) return 401
    return this.#access.check(token, this.#stop.signal)
  }

  /** Cookies do not distinguish ports: several consoles on one machine must not sign each other out. */
  get #cookieName(): string {
    return this.#options.certificate === undefined ? `reeve-console-${this.#port}` : '__Host-reeve-console'
  }

  #cookieOf(request: IncomingMessage): string | undefined {
    const name = this.#cookieName
    for (const pair of (request.headers.cookie ?? '').split(';')) {
      const [key, value] = pair.trim().split('=')
      if (key === name && value !== undefined && value !== '') return value
    }
    return undefined
  }

  #cookie(value: string, maxAge: number): string {
    const isSecure = this.#options.certificate !== undefined
    const parts = [`${this.#cookieName}=${value}`, 'Path=/', 'HttpOnly', 'SameSite=Strict', `Max-Age=${maxAge}`]
    return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ')
  }
}
