/** One request and its response over undici's dispatch interface, with the body as a stream that can be cancelled. */

import type { Duplex } from 'node:stream'
import type { Dispatcher } from 'undici'
import { codeOf } from './coded-error.ts'
import { type ConnectionPhase, HttpConnectionError, HttpInvalidRequestError } from './http-error.ts'
import type { TransportResponse } from './transport.ts'

/** Reading from the socket pauses while this much is buffered for the consumer. */
const HIGH_WATER_BYTES = 1024 * 1024

/** Sends a request. Rejects with the signal's reason when aborted, with `HttpConnectionError` when the connection fails. */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal | undefined,
  translate: TranslateError = (error) => error,
): Promise<TransportResponse> {
  if (signal?.aborted) return Promise.reject(signal.reason)
  const handler = new ExchangeHandler(signal, translate)
  dispatcher.dispatch(options, handler)
  return handler.response
}

/** Translates errors of undici; a `HttpConnectionError` is passed on unchanged. */
export type TranslateError = (error: Error) => Error

type Failure = { readonly reason: unknown }

class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | undefined
  readonly #translate: TranslateError
  readonly #response = Promise.withResolvers<TransportResponse>()
  readonly #onAbort = () => this.#abort(this.#signal?.reason)
  #controller: Dispatcher.DispatchController | undefined
  #phase: ConnectionPhase = 'connect'
  #chunks: Buffer[] = []
  #bufferedBytes = 0
  #isEnded = false
  #failure: Failure | undefined
  #wake: (() => void) | undefined

  constructor(signal: AbortSignal | undefined, translate: TranslateError) {
    this.#signal = signal
    this.#translate = translate
    signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get response(): Promise<TransportResponse> {
    return this.#response.promise
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#phase = 'request'
    if (this.#failure !== undefined) controller.abort(asError(this.#failure.reason))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: TransportResponse['headers'],
  ): void {
    // 1xx is followed by the actual response.
    if (status < 200) return
    this.#phase = 'response'
    this.#response.resolve({ status, headers, body: { [Symbol.asyncIterator]: () => this.#iterator() } })
  }

  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: TransportResponse['headers'],
    socket: Duplex,
  ): void {
    this.#isEnded = true
    this.#signal?.removeEventListener('abort', this.#onAbort)
    const onAbort = () => socket.destroy()
    this.#signal?.addEventListener('abort', onAbort, { once: true })
    socket.on('close', () => this.#signal?.removeEventListener('abort', onAbort))
    this.#response.resolve({ status, headers, body: { [Symbol.asyncIterator]: () => this.#iterator() }, socket })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bufferedBytes += chunk.length
    if (this.#bufferedBytes > HIGH_WATER_BYTES) controller.pause()
    this.#wake?.()
  }

  onResponseEnd(): void {
    this.#isEnded = true
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#wake?.()
  }

  onResponseError(_controller: Dispatcher.DispatchController, given: unknown): void {
    const error = given instanceof Error ? this.#translate(given) : given
    if (error instanceof HttpConnectionError) {
      this.#fail(error)
      return
    }
    const message = explain(error)
    // Rejected by undici itself, such as a line break in a header: a retry cannot help.
    const isInvalid = codeOf(error) === 'UND_ERR_INVALID_ARG'
    this.#fail(
      isInvalid
        ? new HttpInvalidRequestError(message)
        : new HttpConnectionError(message, this.#phase, { cause: error }),
    )
  }

  // Rejects immediately, also while the request still waits for a connection; the request itself is dropped as soon as
  // undici provides its controller.
  #abort(reason: unknown): void {
    if (this.#isEnded || this.#failure !== undefined) return
    this.#fail(reason)
    this.#controller?.abort(asError(reason))
  }

  #fail(reason: unknown): void {
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#failure ??= { reason }
    this.#response.reject(this.#failure.reason)
    this.#wake?.()
  }

  #iterator(): AsyncIterator<Uint8Array, void> {
    return {
      next: () => this.#next(),
      return: async () => {
        this.#abort(new HttpConnectionError('the reader stopped before the end of the response', 'response'))
        return { done: true, value: undefined }
      },
    }
  }

  async #next(): Promise<IteratorResult<Uint8Array, void>> {
    for (;;) {
      // An abort discards buffered data; a lost connection does not, because those bytes did arrive.
      if (this.#failure !== undefined && (this.#signal?.aborted || this.#chunks.length === 0))
        throw this.#failure.reason
      const chunk = this.#chunks.shift()
      if (chunk !== undefined) {
        this.#bufferedBytes -= chunk.length
        if (this.#controller?.paused && this.#bufferedBytes <= HIGH_WATER_BYTES / 2) this.#controller.resume()
        return { done: false, value: chunk }
      }
      if (this.#isEnded) return { done: true, value: undefined }
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
      this.#wake = undefined
    }
  }
}

// undici's messages contain addresses, certificates and limits, never headers or bodies.
function explain(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed'
  const code = codeOf(error)
  if (error.message === '') return code ?? error.name
  return code === undefined || error.message.includes(code) ? error.message : `${error.message} (${code})`
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
