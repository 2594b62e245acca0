/** A response as a value: fault rules can still change it before it is written. */

/** Bytes that are made while they are read, from any position. */
export interface ByteSource {
  readonly sizeBytes: number
  /** The bytes from `start` up to, not including, `end`. */
  read(start: number, end: number): Iterable<Buffer> | AsyncIterable<Buffer>
}

/** A body that is written piece by piece. */
export interface StreamedBody {
  readonly sizeBytes: number
  readonly chunks: () => Iterable<Buffer> | AsyncIterable<Buffer>
}

/** An answer to a call. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | StreamedBody
}

/** An answer in JSON. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  const body = JSON.stringify(value)
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body }
}

/** An answer without a body. */
export function empty(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers, body: '' }
}

/** A page for people. */
export function html(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body }
}

/** Whether the body is made while it is written. */
export function isStreamed(body: Answer['body']): body is StreamedBody {
  return typeof body === 'object' && 'chunks' in body
}
