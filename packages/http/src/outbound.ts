/** Sends requests to any host outside the cluster, each through the right proxy and with the right trust. */

import { HTTP_DEFAULTS } from './defaults.ts'
import { HttpConfigError, HttpConnectionError } from './http-error.ts'
import type { ProxyChoice } from './proxy-choice.ts'
import { noProxy } from './proxy-choice.ts'
import type { ClientCertificate, CredentialSource } from './server-config.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'
import { trustedBundle } from './trusted-certificates.ts'
import { UndiciTransport } from './undici-transport.ts'

/** A request with its whole address. */
export interface OutboundRequest extends Omit<TransportRequest, 'path' | 'repeatedHeaders' | 'isStream'> {
  readonly url: URL
}

/** A response, and its URL after redirects. */
export interface OutboundResponse extends TransportResponse {
  readonly url: URL
}

/** What sends requests: {@link Outbound} in production, a scripted one in tests. */
export interface Sender {
  /** Rejects with {@link HttpConnectionError}, or with the signal's reason. Does not follow redirects. */
  send(request: OutboundRequest): Promise<OutboundResponse>
  /** Closes connections; requests in progress are cancelled. */
  close(): Promise<void>
}

/** Options of {@link Outbound}. */
export interface OutboundOptions {
  /** @default never a proxy */
  readonly proxy?: ProxyChoice
  /** PEM certificates trusted besides the process's own. @default none */
  readonly trustedCertificates?: readonly string[]
  /** PEM bundle trusted instead of the process's own and of `trustedCertificates`. @default none */
  readonly certificateAuthority?: string
  /** The client certificate for servers that request one. @default none */
  readonly clientCertificate?: ClientCertificate
  /** Accept any certificate: an attacker in between can read and change everything. @default false */
  readonly skipCertificateCheck?: boolean
  /** Sent with every request. */
  readonly userAgent: string
  /** To connect, the TLS handshake included. @default 30_000 */
  readonly connectTimeoutMs?: number
  /** Longest silence in the middle of a response. @default 60_000 */
  readonly bodyTimeoutMs?: number
}

/**
 * Connections to as many hosts as redirects and mirrors lead to, within a bound.
 *
 * @example
 * const outbound = new Outbound({ userAgent: 'example/1', proxy: environmentProxy(process.env) })
 * const response = await outbound.send({ method: 'GET', url: new URL('https://example.com/'), headers: {} })
 */
export class Outbound implements Sender {
  readonly #options: OutboundOptions
  readonly #proxy: ProxyChoice
  readonly #bundle: string | undefined
  /** In order of last use, the longest ago first. */
  readonly #transports = new Map<string, Transport>()
  #isClosed = false

  constructor(options: OutboundOptions) {
    this.#options = options
    this.#proxy = options.proxy ?? noProxy
    this.#bundle = options.certificateAuthority ?? trustedBundle(options.trustedCertificates ?? [])
  }

  async send({ url, ...request }: OutboundRequest): Promise<OutboundResponse> {
    const headers = { 'user-agent': this.#options.userAgent, ...request.headers }
    try {
      const response = await this.#transport(url).send({ ...request, headers, path: `${url.pathname}${url.search}` })
      return { ...response, url, body: translated(response.body, url, request.signal) }
    } catch (error) {
      throw asHttpError(error, url, request.signal)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const all = [...this.#transports.values()]
    this.#transports.clear()
    await Promise.all(all.map((transport) => transport.close()))
  }

  #transport(url: URL): Transport {
    if (this.#isClosed) throw new HttpConnectionError(`${url.host}: the client is closed`, 'connect')
    const known = this.#transports.get(url.origin)
    const transport = known ?? this.#connect(url)
    this.#transports.delete(url.origin)
    this.#transports.set(url.origin, transport)
    return transport
  }

  #connect(url: URL): Transport {
    const [oldest] = this.#transports
    if (oldest !== undefined && this.#transports.size >= HTTP_DEFAULTS.maxOrigins) {
      this.#transports.delete(oldest[0])
      // Requests that still run fail with their own error.
      oldest[1].close().catch(() => undefined)
    }
    const { skipCertificateCheck = false, clientCertificate, connectTimeoutMs, bodyTimeoutMs } = this.#options
    const bundle = this.#bundle
    const proxyUrl = this.#proxy(url)
    return new UndiciTransport(
      {
        server: url.origin,
        trust: {
          insecureSkipTlsVerify: skipCertificateCheck,
          ...(bundle !== undefined && { certificateAuthority: { read: async () => bundle } }),
        },
        ...(clientCertificate && { credentials: fixedCredentials(clientCertificate) }),
        ...(proxyUrl !== undefined && { proxyUrl }),
      },
      {
        connectTimeoutMs: connectTimeoutMs ?? HTTP_DEFAULTS.connectTimeoutMs,
        headersTimeoutMs: HTTP_DEFAULTS.headersTimeoutMs,
        bodyTimeoutMs: bodyTimeoutMs ?? HTTP_DEFAULTS.bodyTimeoutMs,
      },
    )
  }
}

function fixedCredentials(clientCertificate: ClientCertificate): CredentialSource {
  return { get: async () => ({ clientCertificate }), renew: async () => undefined }
}

async function* translated(
  body: AsyncIterable<Uint8Array>,
  url: URL,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw asHttpError(error, url, signal)
  }
}

// The messages of the transport name addresses, certificates and limits, never headers or bodies.
function asHttpError(error: unknown, url: URL, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return error
  // A variable of the process that names a proxy and cannot be used.
  if (error instanceof HttpConfigError) return new HttpConfigError(`${url.host}: ${error.message}`)
  if (!(error instanceof HttpConnectionError)) return error
  const { message, phase, proxy } = error
  return new HttpConnectionError(`${url.host}: ${message}`, phase, { cause: error, ...(proxy && { proxy }) })
}
