/** Reads whole responses into memory, within a limit. */

import { headerValue, isRecord, type JsonRecord, retryAfterMs, type TransportResponse } from '@reeve/http'
import { decodedBody } from './content-encoding.ts'
import { MAX_ERROR_BODY_BYTES } from './defaults.ts'
import { ApiError, BadResponseError } from './errors.ts'
import type { Status } from './objects.ts'
import type { RequestTarget } from './request-target.ts'

/** The body as text; fails with `BadResponseError` beyond `maxBytes`, without reading further. */
async function readText(target: RequestTarget, response: TransportResponse, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of decodedBody(target, response)) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) {
      throw new BadResponseError(target, `the response exceeds ${maxBytes} bytes; list with a smaller limit`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes).toString('utf8')
}

/** The body as JSON, or as text when the server declares another type. */
export async function readContent(
  target: RequestTarget,
  response: TransportResponse,
  maxBytes: number,
): Promise<unknown> {
  const text = await readText(target, response, maxBytes)
  const contentType = headerValue(response.headers, 'content-type') ?? ''
  if (target.verb === 'raw' && !contentType.includes('json')) return text
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which may be a Secret: report its type instead of its content.
    throw new BadResponseError(target, `the response (${response.status} ${contentType || 'without type'}) is not JSON`)
  }
}

/**
 * Converts an error response to an `ApiError`. A body that cannot be read or is not a `Status` does not cause a second
 * error.
 */
export async function readApiError(
  target: RequestTarget,
  response: TransportResponse,
  nowMs: number,
): Promise<ApiError> {
  const contentType = headerValue(response.headers, 'content-type')
  const retryAfter = retryAfterMs(response.headers, nowMs)
  const body = await readStatus(target, response)
  return new ApiError(target, response.status, {
    ...(body !== undefined && { body }),
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
    ...(contentType !== undefined && { contentType }),
  })
}

/** The `Status` in a parsed value. Fields of the wrong type are left out: a proxy may have written it. */
export function asStatus(value: unknown): Status | undefined {
  if (!isRecord(value) || value.kind !== 'Status') return undefined
  const { status, message, reason, code, details } = value
  return {
    apiVersion: 'v1',
    kind: 'Status',
    ...((status === 'Success' || status === 'Failure') && { status }),
    ...(typeof message === 'string' && { message }),
    ...(typeof reason === 'string' && { reason }),
    ...(typeof code === 'number' && { code }),
    ...(isRecord(details) && { details: asDetails(details) }),
  }
}

function asDetails(details: JsonRecord): Status['details'] {
  const { retryAfterSeconds, causes } = details
  return {
    ...texts(details, ['name', 'group', 'kind', 'uid']),
    ...(typeof retryAfterSeconds === 'number' && { retryAfterSeconds }),
    ...(Array.isArray(causes) && {
      causes: causes.filter(isRecord).map((cause) => texts(cause, ['reason', 'message', 'field'])),
    }),
  }
}

/** The fields with these names that are strings. */
function texts<N extends string>(record: JsonRecord, names: readonly N[]): Partial<Record<N, string>> {
  const found: Partial<Record<N, string>> = {}
  for (const name of names) {
    const value = record[name]
    if (typeof value === 'string') found[name] = value
  }
  return found
}

async function readStatus(target: RequestTarget, response: TransportResponse): Promise<Status | undefined> {
  try {
    return asStatus(JSON.parse(await readText(target, response, MAX_ERROR_BODY_BYTES)))
  } catch {
    // The HTTP status already shows that the request failed; that is the error to report.
    return undefined
  }
}
