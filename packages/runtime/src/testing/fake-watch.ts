/** One open watch of the fake cluster, with every way a real one can misbehave. */
import type { KubeObject, WatchEvent, WatchOptions } from '@reeve/kube'

type Next = IteratorResult<WatchEvent<KubeObject>>

/** What a test can do to an open watch. */
export class FakeWatch implements AsyncIterableIterator<WatchEvent<KubeObject>> {
  readonly options: WatchOptions
  readonly #queue: WatchEvent<KubeObject>[] = []
  readonly #deliverable: WatchEvent<KubeObject>[] = []
  readonly #onClosed: () => void
  #waiting: PromiseWithResolvers<Next> | undefined
  #ending: { readonly error?: unknown } | undefined
  #isHeld = false
  #isSilent = false

  constructor(options: WatchOptions, onClosed: () => void) {
    this.options = options
    this.#onClosed = onClosed
    options.signal?.addEventListener('abort', () => this.fail(options.signal?.reason))
  }

  push(event: WatchEvent<KubeObject>): void {
    if (this.#ending !== undefined) return
    this.#queue.push(event)
    if (!this.#isHeld) this.#flush(1)
  }

  /** Keeps further events back until {@link FakeWatch.release}. */
  hold(): void {
    this.#isHeld = true
  }

  /** Delivers events kept back: the next `count`, or all of them and those that follow. */
  release(count?: number): void {
    if (count === undefined) this.#isHeld = false
    this.#flush(count ?? this.#queue.length)
  }

  /** From now on nothing arrives, not even the end, and aborting has no effect: a connection that died silently. */
  fallSilent(): void {
    this.#isSilent = true
  }

  /** The server ends the stream gracefully; events in flight are lost. */
  end(): void {
    this.#close({})
  }

  /** The connection breaks, or an ERROR event arrives; events in flight are lost. */
  fail(error: unknown): void {
    this.#close({ error })
  }

  next(): Promise<Next> {
    const deliverable = this.#deliverable.shift()
    if (deliverable !== undefined && !this.#isSilent) return Promise.resolve({ done: false, value: deliverable })
    if (this.#ending !== undefined && !this.#isSilent) return this.#finish(this.#ending)
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  return(): Promise<Next> {
    this.#close({})
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #flush(count: number): void {
    this.#deliverable.push(...this.#queue.splice(0, count))
    if (this.#isSilent || this.#waiting === undefined) return
    const value = this.#deliverable.shift()
    if (value === undefined) return
    this.#waiting.resolve({ done: false, value })
    this.#waiting = undefined
  }

  #close(ending: { readonly error?: unknown }): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    this.#queue.length = 0
    this.#onClosed()
    if (this.#isSilent || this.#waiting === undefined) return
    const { resolve, reject } = this.#waiting
    this.#waiting = undefined
    this.#finish(ending).then(resolve, reject)
  }

  #finish(ending: { readonly error?: unknown }): Promise<Next> {
    if ('error' in ending) return Promise.reject(ending.error)
    return Promise.resolve({ done: true, value: undefined })
  }
}
