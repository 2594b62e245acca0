/** Decodes compressed responses, as a stream: what exceeds a limit is never decompressed. */
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { codeOf, headerValue, type TransportResponse } from '@reeve/http'
import type { ClusterConfig } from './config/cluster-config.ts'
import { BadResponseError } from './errors.ts'
import type { RequestTarget } from './request-target.ts'

/** Hosts of this machine: nothing is slower than compression there. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Whether the way to a server is likely to be slower than compression. */
export function paysToCompress({
  server,
  disableCompression = false,
}: Pick<ClusterConfig, 'server' | 'disableCompression'>): boolean {
  return !disableCompression && !LOOPBACK.test(new URL(server).hostname)
}

/** How much is decompressed at a time: a reader that stops has this much in memory beyond what it has read. */
const CHUNK_BYTES = 64 * 1024

/**
 * The body without its encoding. A reader that leaves the loop cancels the request.
 *
 * *Errors*: `BadResponseError` for an encoding that was not requested, or invalid data; those of the connection.
 */
export function decodedBody(target: RequestTarget, response: TransportResponse): AsyncIterable<Uint8Array> {
  const encoding = headerValue(response.headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding === 'identity' || encoding === '') return response.body
  if (encoding === 'gzip') return gunzipped(target, response.body)
  return refused(target, response.body, encoding)
}

/** Fails at the first read, after it has cancelled the request. */
function refused(target: RequestTarget, body: AsyncIterable<Uint8Array>, encoding: string): AsyncIterable<Uint8Array> {
  const next = async () => {
    await body[Symbol.asyncIterator]().return?.()
    const problem = `the response has the content-encoding "${encoding.slice(0, 40)}"; only gzip is known`
    throw new BadResponseError(target, problem)
  }
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

async function* gunzipped(target: RequestTarget, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  // Destroys both ends when one of them ends early; the error is thrown by the loop.
  pipeline(Readable.from(body), gunzip, () => undefined)
  try {
    yield* gunzip
  } catch (error) {
    if (!isDataError(error)) throw error
    throw new BadResponseError(target, 'the response is not valid gzip', { cause: error })
  }
}

/** Errors of zlib, such as `Z_DATA_ERROR`, and `Z_BUF_ERROR` for data that ends too early. */
function isDataError(error: unknown): boolean {
  return codeOf(error)?.startsWith('Z_') === true
}
