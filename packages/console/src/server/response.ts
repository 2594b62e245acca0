/** Responses of the console, with the headers that every one of them has. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'

const compress = promisify(gzip)

/** Below this size compression does not pay. */
const MIN_COMPRESSED_BYTES = 1_400

/** No scripts, styles or connections but our own; nobody may frame the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every response. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** A whole response. */
export interface WholeResponse {
  readonly status: number
  readonly contentType: string
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** A value as JSON. */
export function json(value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): WholeResponse {
  return { status, contentType: 'application/json; charset=utf-8', body: JSON.stringify(value), headers }
}

/** An error for people. */
export function problem(status: number, message: string): WholeResponse {
  return json({ error: message }, status)
}

/** Sends a response, compressed where the client accepts it. */
export async function send(request: IncomingMessage, response: ServerResponse, whole: WholeResponse): Promise<void> {
  const { status, contentType, headers = {} } = whole
  const plain = Buffer.isBuffer(whole.body) ? whole.body : Buffer.from(whole.body)
  const accepts = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  const isCompressed = accepts && plain.length >= MIN_COMPRESSED_BYTES
  const body = isCompressed ? await compress(plain, { level: constants.Z_BEST_SPEED }) : plain
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'cache-control': 'no-store',
    ...headers,
    'content-type': contentType,
    'content-length': body.length,
    vary: 'accept-encoding',
    ...(isCompressed && { 'content-encoding': 'gzip' }),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}
