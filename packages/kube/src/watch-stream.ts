/** Decodes the bytes of a watch into events. */
import { isRecord } from '@reeve/http'
import type { WatchEvent } from './client.ts'
import { ApiError, BadResponseError, ConnectionError } from './errors.ts'
import { LineSplitter, LineTooLongError } from './json-lines.ts'
import { requireObject } from './object-shape.ts'
import type { KubeObject } from './objects.ts'
import { describeTarget, type RequestTarget } from './request-target.ts'
import { asStatus } from './response-body.ts'

interface RawEvent {
  readonly type?: string
  readonly object?: unknown
}

/**
 * Turns chunks of bytes into events: each as soon as its last byte has arrived, and those before an error first.
 *
 * *Errors*: an `ERROR` event is thrown as `ApiError` (410 when the resourceVersion is too old); a line that is too
 * long or is not JSON as `BadResponseError`; a stream that ends in the middle of an event as `ConnectionError`.
 *
 * @example
 * const decoder = new WatchDecoder<Pod>(target, maxLineBytes, (pod) => pod)
 * for await (const chunk of body) for (const event of decoder.push(chunk)) console.log(event.type)
 */
export class WatchDecoder<T extends KubeObject> {
  readonly #target: RequestTarget
  readonly #shape: (object: T) => T
  readonly #splitter: LineSplitter

  /** @param shape what is done with each object before it is returned */
  constructor(target: RequestTarget, maxLineBytes: number, shape: (object: T) => T) {
    this.#target = target
    this.#shape = shape
    this.#splitter = new LineSplitter(maxLineBytes)
  }

  /** The events that `chunk` completes. */
  *push(chunk: Uint8Array): Generator<WatchEvent<T>, void, undefined> {
    try {
      for (const line of this.#splitter.push(chunk)) {
        // A line of spaces, such as a proxy may send to keep a connection open, is no event.
        const text = line.toString('utf8').trim()
        const event = text === '' ? undefined : this.#decode(text)
        if (event !== undefined) yield event
      }
    } catch (error) {
      throw error instanceof LineTooLongError ? new BadResponseError(this.#target, error.message) : error
    }
  }

  /** What is left when the stream has ended: a server need not end its last event with a newline. */
  *end(): Generator<WatchEvent<T>, void, undefined> {
    const rest = this.#splitter.rest().toString('utf8').trim()
    if (rest === '') return
    if (!isJson(rest)) {
      throw new ConnectionError(`${describeTarget(this.#target)}: ended in the middle of an event`, 'response')
    }
    const event = this.#decode(rest)
    if (event !== undefined) yield event
  }

  #decode(line: string): WatchEvent<T> | undefined {
    const event = parse(line, this.#target)
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        // The server validated the rest of what it stores; validating it again would require every schema.
        return {
          type: event.type,
          object: this.#shape(requireObject<T>(this.#target, event.object)),
        } as WatchEvent<T>
      case 'BOOKMARK':
        requireObject(this.#target, event.object)
        return event as WatchEvent<T>
      case 'ERROR':
        throw asApiError(event.object, this.#target)
      default:
        // An event type of a newer server, which this client did not request.
        return undefined
    }
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
