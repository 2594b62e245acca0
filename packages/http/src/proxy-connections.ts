/** Connections through a proxy, with errors that identify failures of the proxy. */
import { STATUS_CODES } from 'node:http'
import { type Dispatcher, Pool, ProxyAgent } from 'undici'
import { HttpConnectionError } from './http-error.ts'

/** Options of connections through a proxy. */
export interface ProxySettings {
  /** May contain a user name and a password, which no error shows. */
  readonly url: string
  /** Timeout for connecting to the proxy, and for its response to the tunnel request. */
  readonly timeoutMs: number
  /** TLS with the proxy. */
  readonly proxyTls: object
  /** TLS with the server, through the tunnel. */
  readonly requestTls: object
}

/**
 * Sends requests through a proxy: through a tunnel to `https` servers, with the whole address to `http` servers.
 *
 * *Errors*: {@link HttpConnectionError} with `proxy` when the proxy cannot be reached, rejects the request or disconnects.
 * A proxy that requires another password for an `http` server needs {@link proxyFailure}.
 */
export function proxyDispatcher(settings: ProxySettings, limits: object): Dispatcher {
  const { url, timeoutMs, proxyTls, requestTls } = settings
  const { host, origin } = new URL(url)
  return new ProxyAgent({
    ...limits,
    uri: url,
    proxyTls,
    requestTls,
    clientFactory: (proxy, options) =>
      tunnels(new Pool(proxy, { ...options, headersTimeout: timeoutMs }), host, timeoutMs),
    // Direct requests to the proxy are only used for `http` servers.
    factory: (target, options) =>
      new Pool(target, new URL(target).origin === origin ? { ...limits, ...named(options, host, timeoutMs) } : options),
  })
}

/** The same error, unless it is a 407 of a proxy, which the agent reports as an invalid request. */
export function proxyFailure(url: string, error: Error): Error {
  const isRefused = error.message === 'Proxy Authentication Required (407)'
  return isRefused ? refused(new URL(url).host, 407, 'the request') : error
}

/** The pool for tunnel requests. */
function tunnels(pool: Pool, proxy: string, timeoutMs: number): Dispatcher {
  const ask = pool.connect.bind(pool)
  const connect = async (options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> => {
    const tunnel = `the tunnel to ${options.path}`
    const answer = await ask(options).catch((error: unknown) => {
      throw failed(error, proxy, timeoutMs, tunnel)
    })
    if (answer.statusCode === 200) return answer
    // The rest of the proxy's response may be long, and is not needed.
    answer.socket.on('error', () => undefined).destroy()
    throw refused(proxy, answer.statusCode, tunnel)
  }
  return Object.assign(pool, { connect })
}

type Connect = (options: object, callback: (error: Error | null, socket: unknown) => void) => void

/** Connections to the proxy itself, with errors that name it. */
function named(options: object, proxy: string, timeoutMs: number): object {
  const { connect } = options as { readonly connect: Connect } // what the agent passes to its factory
  const connectNamed: Connect = (target, callback) =>
    connect(target, (error, socket) => callback(error && failed(error, proxy, timeoutMs, 'the request'), socket))
  return { ...options, connect: connectNamed }
}

/** Remedies for proxy responses that users can act on. */
const REMEDIES: Readonly<Record<number, string>> = {
  403: 'allow the address in the proxy, or reach it without the proxy',
  407: 'check the user name and the password in the address of the proxy',
  502: 'the proxy cannot reach the server; check the network of the proxy',
  503: 'the proxy cannot reach the server; check the network of the proxy',
  504: 'the proxy cannot reach the server; check the network of the proxy',
}

function refused(proxy: string, status: number, what: string): HttpConnectionError {
  const title = STATUS_CODES[status] === undefined ? '' : ` ${STATUS_CODES[status]}`
  const remedy = REMEDIES[status] ?? 'check the proxy'
  const message = `the proxy ${proxy} rejected ${what} with ${status}${title}; ${remedy}`
  return new HttpConnectionError(message, 'connect', { proxy: { host: proxy, status } })
}

function failed(error: unknown, proxy: string, timeoutMs: number, what: string): HttpConnectionError {
  return new HttpConnectionError(`the proxy ${proxy} ${problem(error, timeoutMs, what)}`, 'connect', {
    cause: error,
    proxy: { host: proxy },
  })
}

function problem(error: unknown, timeoutMs: number, what: string): string {
  // Messages of undici and Node about connections contain no data that was sent.
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string }
  switch (code) {
    case 'UND_ERR_SOCKET':
    case 'ECONNRESET':
      return `closed the connection before it responded to ${what}; check the proxy`
    case 'UND_ERR_HEADERS_TIMEOUT':
      return `did not respond to ${what} within ${timeoutMs} ms; check the proxy`
    case 'UND_ERR_CONNECT_TIMEOUT':
      return `cannot be reached within ${timeoutMs} ms; check its address and the network`
    default:
      return `cannot be used: ${message.includes(code) ? message : `${message} (${code})`}; check its address and certificate`
  }
}
