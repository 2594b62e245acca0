/** Responses to bytes that are not a valid request: those of the real server, after which the connection closes. */
import { methodNotAllowed, toStatus } from '../api/api-errors.ts'
import type { JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'

/** The error of the HTTP/1.1 parser. */
export interface ParseFailure {
  /** Such as `HPE_INVALID_METHOD`. */
  readonly code?: string
  /** The bytes that could not be parsed. */
  readonly rawPacket?: Uint8Array
}

/** Those of `node:http` are the same, but importing it also loads the client of `fetch`, which a server does not need. */
const statusTexts: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  505: 'HTTP Version Not Supported',
}

/** Enough of a request to see that only its method is unknown. */
const REQUEST_LINE_BYTES = 1024
const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ \/\S* HTTP\/1\.[01]\r?\n/

/** The response bytes for a request that could not be parsed. */
export function errorResponse({ code, rawPacket }: ParseFailure): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return plain(431)
    case 'HPE_INVALID_VERSION':
      return plain(505, '505 HTTP Version Not Supported: unsupported protocol version')
    case 'HPE_INVALID_TRANSFER_ENCODING':
      return plain(501, 'Unsupported transfer encoding')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return plain(408)
    case 'HPE_INVALID_CHUNK_SIZE':
      return status(new StatusError(500, '', 'invalid byte in chunk length'))
    case 'HPE_INVALID_METHOD': {
      const start = Buffer.from(rawPacket?.subarray(0, REQUEST_LINE_BYTES) ?? []).toString('latin1')
      return requestLine.test(start) ? status(methodNotAllowed()) : plain(400)
    }
    default:
      return plain(400)
  }
}

/**
 * The path of a request target, which may contain the server name, or `undefined` if it is invalid, such as a malformed
 * escape.
 */
export function targetPath(target: string): string | undefined {
  const path = target.replace(/^https?:\/\/[^/?]*/i, '')
  const [pathname = ''] = path.split('?', 1)
  return pathname.startsWith('/') && !/%(?![0-9a-f]{2})/i.test(pathname) ? path : undefined
}

function plain(code: number, body = `${code} ${statusTexts[code]}`): string {
  return response(code, 'text/plain; charset=utf-8', body)
}

function status(error: StatusError): string {
  const body: JsonObject = toStatus(error)
  return response(error.code, 'application/json', `${JSON.stringify(body)}\n`)
}

function response(code: number, contentType: string, body: string): string {
  const head = [
    `HTTP/1.1 ${code} ${statusTexts[code]}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
