/** Reads a body into memory, decompressed and within a limit. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { HTTP_DEFAULTS } from './defaults.ts'
import { HttpConnectionError, HttpTooLargeError } from './http-error.ts'
import type { OutboundResponse } from './outbound.ts'
import { headerValue } from './response-headers.ts'

const unzip = promisify(gunzip)

/** Offered with every call whose response is read by {@link readBody}. */
export const ACCEPTED_ENCODING = 'gzip'

/**
 * The whole body.
 *
 * *Errors*: {@link HttpTooLargeError} beyond `maxBytes`, packed or unpacked; {@link HttpConnectionError} when it was
 * cut off in the middle.
 */
export async function readBody(
  response: OutboundResponse,
  maxBytes: number = HTTP_DEFAULTS.maxAnswerBytes,
): Promise<Buffer> {
  const tooLarge = () => new HttpTooLargeError(`${response.url.host}: the response exceeds ${maxBytes} bytes`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks, bytes)
  if (headerValue(response.headers, 'content-encoding')?.toLowerCase() !== ACCEPTED_ENCODING || bytes === 0) return body
  try {
    return await unzip(body, { maxOutputLength: maxBytes })
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge()
    throw new HttpConnectionError(`${response.url.host}: the compressed response is damaged`, 'response', {
      cause: error,
    })
  }
}

/** At most the first `maxBytes` of a body, which may be of any kind; the rest is not read. */
export async function readBeginning(response: OutboundResponse, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of response.body) {
      chunks.push(chunk)
      bytes += chunk.byteLength
      if (bytes >= maxBytes) break
    }
  } catch (error) {
    // The status already says that the call failed; a truncated explanation is better than another error.
    if (!(error instanceof HttpConnectionError)) throw error
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}
