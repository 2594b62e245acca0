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

/** A stream of bytes that is opened by the first read. */
export interface WatchSource {
  /** Called once. */
  open(): Promise<AsyncIterable<Uint8Array>>
  /** Called once, when nothing is read anymore. */
  close(): void
  /** The error that the consumer sees. */
  asError(error: unknown): unknown
  readonly signal?: AbortSignal | undefined
}

interface RawEvent {
  readonly type?: string
  readonly object?: unknown
}

const END = { done: true, value: undefined } as const

/**
 * The events of one watch, until the server ends it. An iterator written by hand: an event that has arrived already costs
 * one promise, where generators within generators take several turns of the microtask queue.
 *
 * *Errors*: an `ERROR` event is thrown as `ApiError` (410 when the resourceVersion is too old); a line that is too
 * long or is not JSON as `BadResponseError`; a stream that ends in the middle of an event as `ConnectionError`; the reason
 * of the signal.
 *
 * *Assumption*: `next` is not called before the last one settled, as with `for await`. `return` may be called at any time.
 */
export class WatchEvents<T extends KubeObject> implements AsyncIterableIterator<WatchEvent<T>, void, undefined> {
  readonly #source: WatchSource
  readonly #options: WatchStreamOptions<T>
  readonly #splitter: LineSplitter
  #body: AsyncIterator<Uint8Array> | undefined
  /** What has arrived and is not decoded yet. */
  #lines: Iterator<Buffer, void> | undefined
  #isEnded = false

  constructor(source: WatchSource, options: WatchStreamOptions<T>) {
    this.#source = source
    this.#options = options
    this.#splitter = new LineSplitter(options.maxLineBytes)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<WatchEvent<T>, void>> {
    if (this.#isEnded) return Promise.resolve(END)
    if (this.#lines === undefined || this.#source.signal?.aborted) return this.#read()
    try {
      const value = this.#decodeNext()
      return value === undefined ? this.#read() : Promise.resolve({ done: false, value })
    } catch (error) {
      return Promise.reject(this.#fail(error))
    }
  }

  async return(): Promise<IteratorResult<WatchEvent<T>, void>> {
    this.#end()
    return END
  }

  /** Waits for bytes until they complete an event. */
  async #read(): Promise<IteratorResult<WatchEvent<T>, void>> {
    try {
      this.#source.signal?.throwIfAborted()
      this.#body ??= (await this.#source.open())[Symbol.asyncIterator]()
      for (;;) {
        const { done, value: chunk } = await this.#body.next()
        if (done) break
        this.#lines = this.#splitter.push(chunk)
        const value = this.#decodeNext()
        if (value !== undefined) return { done: false, value }
      }
      const value = this.#decodeRest()
      if (value !== undefined) return { done: false, value }
      this.#end()
      return END
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** The next event of what has arrived. */
  #decodeNext(): WatchEvent<T> | undefined {
    for (let line = this.#lines?.next(); line !== undefined && !line.done; line = this.#lines?.next()) {
      const event = this.#decode(line.value)
      if (event !== undefined) return event
    }
    this.#lines = undefined
    return undefined
  }

  /** A line of spaces, such as a proxy may send to keep a connection open, is no event. */
  #decode(line: Buffer): WatchEvent<T> | undefined {
    const text = line.toString('utf8').trim()
    return text === '' ? undefined : decode(text, this.#options)
  }

  /** A server need not end its last event with a newline. */
  #decodeRest(): WatchEvent<T> | undefined {
    const rest = this.#splitter.rest().toString('utf8').trim()
    if (rest === '') return undefined
    if (isJson(rest)) return decode(rest, this.#options)
    throw new ConnectionError(`${describeTarget(this.#options.target)}: ended in the middle of an event`, 'response')
  }

  #fail(error: unknown): unknown {
    this.#end()
    const { signal } = this.#source
    if (signal?.aborted) return signal.reason
    const { target } = this.#options
    return this.#source.asError(error instanceof LineTooLongError ? new BadResponseError(target, error.message) : error)
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#lines = undefined
    this.#source.close()
    // Whatever it says: nobody reads from it anymore.
    this.#body?.return?.().catch(() => undefined)
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
