/** The transport used in production: credentials, TLS and proxies on undici's connections. */

import {
  DEFAULT_BODY_TIMEOUT_MS,
  DEFAULT_CONNECT_TIMEOUT_MS,
  DEFAULT_CONNECTIONS,
  DEFAULT_HEADERS_TIMEOUT_MS,
  DEFAULT_KEEP_ALIVE_MS,
  DEFAULT_TCP_KEEP_ALIVE_MS,
} from './defaults.ts'
import { HttpConnectionError } from './http-error.ts'
import type { Credentials, ServerConfig } from './server-config.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'
import type { ConnectionLimits, ConnectionSettings, Connections } from './undici-connections.ts'

/** Options of {@link UndiciTransport}. */
export interface UndiciTransportOptions {
  /** Connections for ordinary requests; streams do not count. @default 32 */
  readonly connections?: number
  /** Time to connect, including the TLS handshake. @default 10_000 */
  readonly connectTimeoutMs?: number
  /** Time until the response begins, also for streams. @default 70_000, more than the server's own limit */
  readonly headersTimeoutMs?: number
  /** Longest silence in the middle of a response; streams have no such limit. @default 30_000 */
  readonly bodyTimeoutMs?: number
  /** Idle connections close after this. @default 30_000 */
  readonly keepAliveMs?: number
  /** TCP probes start after this much silence. @default 15_000 */
  readonly tcpKeepAliveMs?: number
}

interface Generation {
  readonly settings: ConnectionSettings
  readonly connections: Promise<Connections>
}

/**
 * Sends requests over HTTP/1.1.
 *
 * *Guarantees*
 * - Credentials are added here and nowhere else, and never over plain `http`.
 * - After a 401 new credentials are obtained and the request is sent again.
 * - A changed client certificate or CA opens new connections; requests in progress end on the old ones.
 *
 * @example
 * const transport = new UndiciTransport({ server: 'https://127.0.0.1:6443', trust: {} })
 */
export class UndiciTransport implements Transport {
  readonly #config: ServerConfig
  readonly #limits: ConnectionLimits
  readonly #server: URL
  readonly #pathPrefix: string
  readonly #retiring = new Set<Promise<Connections>>()
  #generation: Generation | undefined
  #isClosed = false

  constructor(config: ServerConfig, options: UndiciTransportOptions = {}) {
    this.#config = config
    this.#server = new URL(config.server)
    this.#pathPrefix = this.#server.pathname.replace(/\/+$/, '')
    this.#limits = {
      connections: options.connections ?? DEFAULT_CONNECTIONS,
      connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
      headersTimeoutMs: options.headersTimeoutMs ?? DEFAULT_HEADERS_TIMEOUT_MS,
      bodyTimeoutMs: options.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT_MS,
      keepAliveMs: options.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS,
      tcpKeepAliveMs: options.tcpKeepAliveMs ?? DEFAULT_TCP_KEEP_ALIVE_MS,
    }
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    const source = this.#config.credentials
    if (source === undefined || this.#server.protocol !== 'https:') return this.#exchange(request, {})
    const credentials = await source.get(request.signal)
    const response = await this.#exchange(request, credentials)
    if (response.status !== 401) return response
    const renewed = await source.renew(credentials, request.signal)
    if (renewed === undefined) return response
    await discard(response)
    return this.#exchange(request, renewed)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const current = this.#generation?.connections
    const all = await Promise.all([...this.#retiring, ...(current ? [current] : [])])
    const reason = new HttpConnectionError('the client is closed', 'request')
    await Promise.all(all.map((connections) => connections.destroy(reason)))
  }

  async #exchange(request: TransportRequest, credentials: Credentials): Promise<TransportResponse> {
    const connections = await this.#connections(credentials)
    const { method, path, body, signal, isStream = false, upgrade } = request
    const headers: Record<string, string | string[]> = { ...request.headers }
    for (const [name, values] of Object.entries(request.repeatedHeaders ?? {})) headers[name] = [...values]
    if (credentials.authorization !== undefined) headers.authorization = credentials.authorization
    const options = {
      origin: this.#server.origin,
      method,
      path: `${this.#pathPrefix}${path}`,
      headers,
      ...(body !== undefined && { body }),
      ...(upgrade !== undefined && { upgrade }),
    }
    return connections.send(options, isStream, signal)
  }

  async #connections({ clientCertificate }: Credentials): Promise<Connections> {
    const { trust, proxyUrl } = this.#config
    const certificateAuthority = await trust.certificateAuthority?.read()
    if (this.#isClosed) throw new HttpConnectionError('the client is closed', 'connect')
    const settings: ConnectionSettings = {
      origin: this.#server.origin,
      ...(certificateAuthority !== undefined && { certificateAuthority }),
      ...(clientCertificate && { clientCertificate }),
      ...(trust.serverName !== undefined && { serverName: trust.serverName }),
      ...(trust.insecureSkipTlsVerify && { insecureSkipTlsVerify: true }),
      ...(proxyUrl !== undefined && { proxyUrl }),
    }
    if (this.#generation !== undefined && isSame(this.#generation.settings, settings)) {
      return this.#generation.connections
    }
    this.#retire()
    this.#generation = { settings, connections: open(settings, this.#limits) }
    return this.#generation.connections
  }

  // Closing waits for requests in progress, including streams; they end by their own timeouts within minutes.
  #retire(): void {
    const retired = this.#generation?.connections
    if (retired === undefined) return
    this.#retiring.add(retired)
    const forget = () => this.#retiring.delete(retired)
    // Errors of old connections are ignored here: the requests on them report them.
    retired.then((connections) => connections.close()).then(forget, forget)
  }
}

async function open(settings: ConnectionSettings, limits: ConnectionLimits): Promise<Connections> {
  // Imported with the first request: a process that never sends one does not need an HTTP client.
  const { openConnections } = await import('./undici-connections.ts')
  return openConnections(settings, limits)
}

// Of all connection settings, only these two can change at run time.
function isSame(a: ConnectionSettings, b: ConnectionSettings): boolean {
  return (
    a.certificateAuthority === b.certificateAuthority &&
    a.clientCertificate?.certificate === b.clientCertificate?.certificate &&
    a.clientCertificate?.key === b.clientCertificate?.key
  )
}

/** Reads a small response to its end so that the connection can be reused; drops the connection of a large one. */
async function discard(response: TransportResponse): Promise<void> {
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    if (bytes > 64 * 1024) break
  }
}
