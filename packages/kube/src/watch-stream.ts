/** Decodes the body of a watch into events. */
import type { WatchEvent } from './client.ts'
import { ApiError, BadResponseError, ConnectionError } from './errors.ts'
import { LineSplitter, LineTooLongError } from './json-lines.ts'
import { isRecord } from './json-record.ts'
import { requireObject } from './object-shape.ts'
import type { KubeObject } from './objects.ts'
import { describeTarget, type RequestTarget } from './request-target.ts'
import { asStatus } from './response-body.ts'

/** How to read a stream. */
export interface WatchStreamOptions<T extends KubeObject> {
  readonly target: RequestTarget
  readonly maxLineBytes: number
  /** Shapes each object before it is returned. */
  readonly shape: (object: T) => T
}

interface RawEvent {
  readonly type?: string
  readonly object?: unknown
}

/**
 * Yields events as they arrive and returns when the server ends the stream.
 *
 * *Errors*: an `ERROR` event is thrown as `ApiError` (410 when the resourceVersion is too old); a line that is too
 * long or is not JSON as `BadResponseError`; a stream that ends in the middle of an event as `ConnectionError`.
 */
export async function* readWatchEvents<T extends KubeObject>(
  body: AsyncIterable<Uint8Array>,
  options: WatchStreamOptions<T>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  const splitter = new LineSplitter(options.maxLineBytes)
  try {
    for await (const chunk of body) {
      for (const line of splitter.push(chunk)) {
        const event = decode(line, options)
        if (event !== undefined) yield event
      }
    }
    const rest = splitter.rest()
    if (rest === '') return
    if (!isJson(rest)) {
      throw new ConnectionError(`${describeTarget(options.target)}: ended in the middle of an event`, 'response')
    }
    const last = decode(rest, options)
    if (last !== undefined) yield last
  } catch (error) {
    if (error instanceof LineTooLongError) throw new BadResponseError(options.target, error.message)
    throw error
  }
}

function decode<T extends KubeObject>(line: string, options: WatchStreamOptions<T>): WatchEvent<T> | undefined {
  const event = parse(line, options.target)
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      // The server validated the rest of what it stores; validating it again would require every schema.
      return {
        type: event.type,
        object: options.shape(requireObject<T>(options.target, event.object)),
      } as WatchEvent<T>
    case 'BOOKMARK':
      requireObject(options.target, event.object)
      return event as WatchEvent<T>
    case 'ERROR':
      throw asApiError(event.object, options.target)
    default:
      // An event type of a newer server, which this client did not request.
      return undefined
  }
}

function parse(line: string, target: RequestTarget): RawEvent {
  try {
    const value: unknown = JSON.parse(line)
    if (isRecord(value)) return value
  } catch {
    // Falls through: the parser's message would quote the line, and the line may be a Secret.
  }
  throw new BadResponseError(target, 'a watch event is not a JSON object')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function asApiError(object: unknown, target: RequestTarget): ApiError {
  const status = asStatus(object)
  return new ApiError(target, status?.code ?? 500, status === undefined ? {} : { body: status })
}
