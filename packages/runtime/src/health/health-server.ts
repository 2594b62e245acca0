/** A small HTTP server for `/healthz`, `/readyz` and `/metrics`. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HEALTH_DEFAULTS } from '../defaults.ts'
import { InFlight } from '../lifecycle/in-flight.ts'
import { closeServer, Listener } from '../lifecycle/listener.ts'
import type { Runnable } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import type { MetricsGuard } from '../metrics/metrics-guard.ts'
import type { MetricsRegistry } from '../metrics/registry.ts'
import type { CheckResult, HealthChecks } from './health-checks.ts'

/** Options of {@link HealthServer}. What is not given is not served. */
export interface HealthServerOptions {
  /** @default '0.0.0.0': probes come from the node */
  readonly host?: string
  /** 0 takes a free one. @default 8081 */
  readonly port?: number
  /** Served under `/healthz` and `/livez`: failing makes the kubelet restart the container. */
  readonly health?: HealthChecks
  /** Served under `/readyz`: failing takes the pod out of its services. */
  readonly readiness?: HealthChecks
  /** Served under `/metrics`. */
  readonly metrics?: MetricsRegistry
  /** Protects `/metrics`, and makes this a server of TLS 1.3. */
  readonly guard?: MetricsGuard
  readonly logger?: Logger
}

/** A response of the server, also without a socket. */
export interface HealthResponse {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

const TEXT = 'text/plain; charset=utf-8'
const FORBIDDEN_METHOD: HealthResponse = { status: 405, contentType: TEXT, body: 'only GET and HEAD are served\n' }
const REFUSALS = {
  401: 'send the token of a service account as a bearer token',
  403: 'the account may not get the non-resource URL /metrics',
  503: 'the API server could not be asked whether this account may read metrics',
} as const
const NOT_FOUND: HealthResponse = { status: 404, contentType: TEXT, body: 'not found\n' }

/**
 * Serves checks and metrics. `/readyz?verbose` lists every check, `/readyz/<name>` runs one of them, which then decides
 * alone, and `?exclude=<name>` leaves one out.
 *
 * @example
 * const server = new HealthServer({ port: 8081, health: new HealthChecks(), readiness })
 * await server.run(signal)
 */
export class HealthServer implements Runnable {
  readonly name: string
  readonly needsLeadership = false
  readonly phase = 'servers'
  readonly #options: HealthServerOptions
  readonly #logger: Logger
  readonly #requests = new InFlight()
  readonly #listener: Listener

  constructor(options: HealthServerOptions, name = 'health') {
    this.name = name
    this.#options = options
    this.#logger = (options.logger ?? silentLogger).child({ server: name })
    this.#listener = new Listener(this.#logger, 'serving health and metrics')
  }

  /** Resolves with the address once the server listens; rejects when it cannot. */
  address(): Promise<AddressInfo> {
    return this.#listener.address()
  }

  async whenReady(): Promise<void> {
    await this.#listener.address()
  }

  async run(signal: AbortSignal): Promise<void> {
    const server = await this.#createServer()
    server.headersTimeout = HEALTH_DEFAULTS.requestTimeoutMs
    server.requestTimeout = HEALTH_DEFAULTS.requestTimeoutMs
    server.keepAliveTimeout = HEALTH_DEFAULTS.keepAliveTimeoutMs
    await this.#listener.run(server, {
      host: this.#options.host ?? HEALTH_DEFAULTS.host,
      port: this.#options.port ?? HEALTH_DEFAULTS.healthPort,
      maxConnections: HEALTH_DEFAULTS.maxConnections,
      signal,
      stop: () => closeServer(server, () => this.#whenIdle()),
    })
  }

  async #createServer(): Promise<Server> {
    const onRequest = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response)
    const { guard } = this.#options
    if (guard === undefined) return createServer(onRequest)
    const [{ createServer: createTlsServer }, { certificate, privateKey }] = await Promise.all([
      import('node:https'),
      guard.certificate(),
    ])
    return createTlsServer({ cert: certificate, key: privateKey, minVersion: 'TLSv1.3' }, onRequest)
  }

  /** Handles a request without a socket. */
  async handle(method: string, url: string, authorization?: string): Promise<HealthResponse> {
    if (method !== 'GET' && method !== 'HEAD') return FORBIDDEN_METHOD
    const { pathname, searchParams } = new URL(url, 'http://local')
    const [, root = '', name, ...rest] = pathname.replace(/\/$/, '').split('/')
    if (rest.length > 0) return NOT_FOUND
    if (root === 'metrics' && name === undefined) return this.#exposeMetrics(authorization)
    const checks = this.#checksFor(root)
    if (checks === undefined || (name !== undefined && !checks.has(name))) return NOT_FOUND
    const excluded = new Set(searchParams.getAll('exclude'))
    const results = (await checks.run(name))
      .filter((result) => !excluded.has(result.name))
      .map((result) => ({ ...result, isRequired: result.isRequired || result.name === name }))
    return report(root, results, searchParams.has('verbose'))
  }

  #checksFor(root: string): HealthChecks | undefined {
    if (root === 'healthz' || root === 'livez') return this.#options.health
    return root === 'readyz' ? this.#options.readiness : undefined
  }

  async #exposeMetrics(authorization: string | undefined): Promise<HealthResponse> {
    const { metrics, guard } = this.#options
    if (metrics === undefined) return NOT_FOUND
    const verdict = guard === undefined ? 200 : await guard.authorize(authorization, '/metrics')
    if (verdict !== 200) return { status: verdict, contentType: TEXT, body: `${REFUSALS[verdict]}\n` }
    return { status: 200, contentType: metrics.contentType, body: await metrics.expose() }
  }

  /** Checks have their own timeouts; a client that does not read its response must not delay the stop either. */
  #whenIdle(): Promise<unknown> {
    return this.#requests.whenIdle(AbortSignal.timeout(HEALTH_DEFAULTS.requestTimeoutMs)).catch(() => undefined)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const leave = this.#requests.enter()
    response.once('close', leave)
    try {
      const { status, contentType, body } = await this.handle(
        request.method ?? '',
        request.url ?? '/',
        request.headers.authorization,
      )
      response.writeHead(status, {
        'content-type': contentType,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        ...(status === 405 && { allow: 'GET, HEAD' }),
        ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      })
      response.end(request.method === 'HEAD' ? undefined : body)
    } catch (error) {
      this.#logger.error({ err: error, method: request.method }, 'could not respond to a health request')
      if (!response.headersSent) response.writeHead(500, { 'content-type': TEXT })
      response.end('internal error\n')
    }
  }
}

function report(root: string, results: readonly CheckResult[], isVerbose: boolean): HealthResponse {
  const hasFailed = results.some(({ failure, isRequired }) => failure !== undefined && isRequired)
  const status = hasFailed ? 503 : 200
  if (!hasFailed && !isVerbose) return { status, contentType: TEXT, body: 'ok' }
  const lines = results.map(({ name, failure, isRequired }) => {
    if (failure === undefined) return `[+]${name} ok`
    return `[-]${name} failed${isRequired ? '' : ' (not required)'}: ${failure.replaceAll('\n', ' ')}`
  })
  const body = `${[...lines, `${root} check ${hasFailed ? 'failed' : 'passed'}`].join('\n')}\n`
  return { status, contentType: TEXT, body }
}
