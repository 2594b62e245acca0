/** A response as a value: fault rules can still change it before it is written. */

/** Content that is generated while it is read, from any position. */
export interface ByteSource {
  readonly sizeBytes: number
  /** The bytes from `start` up to, not including, `end`. */
  read(start: number, end: number): Iterable<Buffer> | AsyncIterable<Buffer>
}

/** A body that is written in chunks. */
export interface StreamedBody {
  readonly sizeBytes: number
  readonly chunks: () => Iterable<Buffer> | AsyncIterable<Buffer>
}

/** The response to a call. */
export interface SimulatedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | StreamedBody
}

/** A JSON response. */
export function json(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): SimulatedResponse {
  const body = JSON.stringify(value)
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body }
}

/** A response without a body. */
export function empty(status: number, headers: Readonly<Record<string, string>> = {}): SimulatedResponse {
  return { status, headers, body: '' }
}

/** An HTML page. */
export function html(status: number, body: string, headers: Readonly<Record<string, string>> = {}): SimulatedResponse {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body }
}

/** Whether the body is generated while it is written. */
export function isStreamed(body: SimulatedResponse['body']): body is StreamedBody {
  return typeof body === 'object' && 'chunks' in body
}
