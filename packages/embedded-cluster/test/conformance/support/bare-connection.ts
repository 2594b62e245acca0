/** Raw bytes to a server, for requests that no HTTP client would send. */
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from 'node:tls'
import type { ConformanceApi, Json } from './conformance-api.ts'

/** Bytes to send, or how long to wait before the next ones, in milliseconds. */
export type Step = string | Uint8Array | number

/** The responses before the connection ended. */
export interface RawReply {
  /** The status of each response, in order. */
  readonly statuses: readonly number[]
  /** The body of the last response. */
  readonly text: string
  /** The same parsed as JSON, if it is valid. */
  readonly body: Json
}

/** Options of the connection. */
export interface BareOptions {
  /** Whether the client half-closes the connection as soon as it has sent everything. */
  readonly halfClose?: boolean
}

/** How long a case waits for the server to close the connection. */
const DEADLINE_MS = 20_000

/**
 * Sends bytes over a separate connection, as the administrator, and reads until the server closes it. Requests contain
 * `Connection: close` where the server would keep it open.
 *
 * @example
 * const { statuses } = await sendBytes(api, ['nonsense\r\n\r\n'])
 */
export async function sendBytes(
  api: ConformanceApi,
  steps: readonly Step[],
  { halfClose = false }: BareOptions = {},
): Promise<RawReply> {
  const { server, ca, cert, key } = api.cluster.connection
  const { hostname: host, port } = new URL(server)
  const socket = connect({ host, port: Number(port), ca, cert, key, ALPNProtocols: ['http/1.1'] })
  const chunks: Uint8Array[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  const ended = Promise.withResolvers<void>()
  // A server that rejects bytes it has not read resets the connection; its earlier response is used.
  socket.on('error', () => ended.resolve())
  socket.on('close', () => ended.resolve())
  const timer = setTimeout(() => ended.reject(new Error('the server did not close the connection')), DEADLINE_MS)
  try {
    for (const step of steps) {
      if (typeof step === 'number') await delay(step)
      else socket.write(step)
    }
    if (halfClose) socket.end()
    await ended.promise
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
  return read(Buffer.concat(chunks))
}

/** An HTTP/1.1 request after which the connection closes. The length of a body is added if it is missing. */
export function request(line: string, headers: readonly string[] = [], body = ''): string {
  const hasLength = body === '' || headers.some((header) => /^(content-length|transfer-encoding):/i.test(header))
  const length = hasLength ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  return [`${line} HTTP/1.1`, 'Host: cluster', 'Connection: close', ...headers, ...length, '', body].join('\r\n')
}

function read(bytes: Buffer): RawReply {
  const whole = bytes.toString()
  const statuses = [...whole.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map(([, status]) => Number(status))
  const head = whole.lastIndexOf('HTTP/1.')
  const text = whole.slice(whole.indexOf('\r\n\r\n', head) + 4)
  return { statuses, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}
