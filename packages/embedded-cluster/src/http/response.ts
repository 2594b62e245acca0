/** Builds responses: complete bodies, streams, and errors as `Status`. */

import { internalError, PageNotFound, toStatus } from '../api/api-errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { StatusError } from '../status-error.ts'
import type { ServerResponse } from './exchange.ts'
import type { FailureForm } from './negotiation.ts'

const encoder = new TextEncoder()

/** A body whose bytes are all available, so that the front can send its length and compress it. */
export class CompleteBody implements AsyncIterable<Uint8Array> {
  readonly chunks: readonly Uint8Array[]

  constructor(chunks: readonly Uint8Array[]) {
    this.chunks = chunks
  }

  get length(): number {
    let total = 0
    for (const chunk of this.chunks) total += chunk.length
    return total
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    yield* this.chunks
  }
}

/** Headers by lower-case name. */
export type Headers = Record<string, string | readonly string[] | undefined>

/** A response with a complete body. */
export function complete(
  status: number,
  contentType: string,
  body: string | Uint8Array,
  headers: Headers = {},
): ServerResponse {
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  return {
    status,
    headers: { 'cache-control': 'no-cache, private', 'content-type': contentType, ...headers },
    body: new CompleteBody(bytes.length === 0 ? [] : [bytes]),
  }
}

/** A response without a body and content type. */
export function empty(status: number, headers: Headers = {}): ServerResponse {
  return { status, headers: { 'cache-control': 'no-cache, private', ...headers }, body: new CompleteBody([]) }
}

/** A JSON response; compact with a newline at the end, as in the real server. */
export function json(status: number, value: JsonValue, headers: Headers = {}): ServerResponse {
  return complete(status, 'application/json', `${JSON.stringify(value)}\n`, headers)
}

/** A YAML response, with the order and indentation of the real server. */
export async function yaml(status: number, value: JsonValue, headers: Headers = {}): Promise<ServerResponse> {
  const { default: yaml } = await import('yaml')
  const text = yaml.stringify(value, {
    aliasDuplicateObjects: false,
    sortMapEntries: true,
    version: '1.1',
    indentSeq: false,
    lineWidth: 0,
  })
  return complete(status, 'application/yaml', text, headers)
}

/** Plain text. */
export function text(status: number, body: string, headers: Headers = {}): ServerResponse {
  return complete(status, 'text/plain; charset=utf-8', body, headers)
}

/** The response for an error thrown while handling a request. */
export function failure(error: unknown): ServerResponse {
  if (error instanceof PageNotFound) return text(404, '404 page not found\n', { 'x-content-type-options': 'nosniff' })
  const status = statusOf(error)
  return json(status.code, toStatus(status), retryAfter(status))
}

/** The same in the representation that the client requested. */
export async function failureAs(error: unknown, { format, isPretty }: FailureForm): Promise<ServerResponse> {
  if (error instanceof PageNotFound || (format === 'json' && !isPretty)) return failure(error)
  const status = statusOf(error)
  if (format === 'yaml') return yaml(status.code, toStatus(status), retryAfter(status))
  return complete(status.code, 'application/json', JSON.stringify(toStatus(status), undefined, 2), retryAfter(status))
}

function statusOf(error: unknown): StatusError {
  return error instanceof StatusError ? error : internalError(String(error), { cause: error })
}

function retryAfter({ details }: StatusError): Headers {
  const seconds = details?.retryAfterSeconds
  return seconds === undefined ? {} : { 'retry-after': String(seconds) }
}

/** One `Warning` header per message, quoted as required by RFC 7234. */
export function warningHeaders(warnings: readonly string[]): readonly string[] {
  return [...new Set(warnings)].map((warning) => {
    // Control characters would end the header or be rejected by the HTTP stack.
    const cleaned = [...warning].filter((character) => character >= ' ' && character !== '\u007f').join('')
    return `299 - "${cleaned.replace(/["\\]/g, '\\$&')}"`
  })
}

/** The success Status of a deletion. */
export function deletedStatus(resource: { group: string; plural: string }, name: string, uid: string): JsonObject {
  const group = resource.group === '' ? {} : { group: resource.group }
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...group, kind: resource.plural, uid },
  }
}
