/** The connections of a transport: a keep-alive pool for requests, and a separate connection for every stream. */
import { createSecureContext } from 'node:tls'
import type { Dispatcher } from 'undici'
import type { ClientCertificate } from './server-config.ts'
import type { TransportResponse } from './transport.ts'
import { exchange, type TranslateError } from './undici-exchange.ts'

/** Settings of connections; a change of any of them requires new connections. */
export interface ConnectionSettings {
  /** Scheme, host and port. */
  readonly origin: string
  readonly certificateAuthority?: string
  readonly clientCertificate?: ClientCertificate
  readonly serverName?: string
  readonly insecureSkipTlsVerify?: boolean
  readonly proxyUrl?: string
}

/** Limits of connections. */
export interface ConnectionLimits {
  readonly connections: number
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly keepAliveMs: number
  readonly tcpKeepAliveMs: number
}

interface Dispatchers {
  readonly requests: Dispatcher
  readonly streams: Dispatcher
  readonly translate?: TranslateError
}

/** One set of connections with the same settings. */
export class Connections {
  readonly #requests: Dispatcher
  readonly #streams: Dispatcher
  readonly #translate: TranslateError | undefined

  constructor({ requests, streams, translate }: Dispatchers) {
    this.#requests = requests
    this.#streams = streams
    this.#translate = translate
  }

  /** Requests share `connections` connections and wait for a free one; a stream immediately gets its own. */
  send(
    options: Dispatcher.DispatchOptions,
    isStream: boolean,
    signal: AbortSignal | undefined,
  ): Promise<TransportResponse> {
    return exchange(isStream ? this.#streams : this.#requests, options, signal, this.#translate)
  }

  /** Resolves when all requests have ended; no new ones are accepted. */
  async close(): Promise<void> {
    await Promise.all([this.#requests.close(), this.#streams.close()])
  }

  /** Ends all requests with `reason`. */
  async destroy(reason: Error): Promise<void> {
    await Promise.all([this.#requests.destroy(reason), this.#streams.destroy(reason)])
  }
}

/** Does not connect yet; the first requests do. */
export async function openConnections(settings: ConnectionSettings, limits: ConnectionLimits): Promise<Connections> {
  const common = {
    // One dead HTTP/2 connection silences every watch at once: docs/decisions/0004-http-transport.md has the figures.
    allowH2: false,
    pipelining: 1,
    headersTimeout: limits.headersTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    keepAliveMaxTimeout: limits.keepAliveMs,
  }
  const forRequests = { ...common, connections: limits.connections, bodyTimeout: limits.bodyTimeoutMs }
  const forStreams = { ...common, bodyTimeout: 0 }
  if (settings.proxyUrl !== undefined) {
    return new Connections(await proxied(settings, settings.proxyUrl, limits, forRequests, forStreams))
  }
  const connect = connectOptions(settings, limits)
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js')
  return new Connections({
    requests: new Pool(settings.origin, { ...forRequests, connect }),
    streams: new Pool(settings.origin, { ...forStreams, connect }),
  })
}

async function proxied(
  settings: ConnectionSettings,
  url: string,
  limits: ConnectionLimits,
  forRequests: object,
  forStreams: object,
): Promise<Dispatchers> {
  const { proxyDispatcher, proxyFailure } = await import('./proxy-connections.ts')
  const { clientCertificate: _ofTheServer, serverName: _name, ...trust } = settings
  const proxy = {
    url,
    timeoutMs: limits.connectTimeoutMs,
    requestTls: connectOptions(settings, limits),
    // The authorities for the server are also trusted for the proxy; the client certificate is only for the server.
    proxyTls: connectOptions(trust, limits),
  }
  return {
    requests: proxyDispatcher(proxy, forRequests),
    streams: proxyDispatcher(proxy, forStreams),
    translate: (error) => proxyFailure(url, error),
  }
}

function connectOptions(settings: ConnectionSettings, limits: ConnectionLimits) {
  const { certificateAuthority, clientCertificate, serverName, insecureSkipTlsVerify } = settings
  return {
    timeout: limits.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelay: limits.tcpKeepAliveMs,
    rejectUnauthorized: insecureSkipTlsVerify !== true,
    // Created once: parsing a bundle of authorities takes far longer than the rest of a connection.
    secureContext: createSecureContext({
      minVersion: 'TLSv1.2',
      ...(certificateAuthority !== undefined && { ca: certificateAuthority }),
      ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key }),
    }),
    ...(serverName !== undefined && { servername: serverName }),
  }
}
