/** Background work of the demo, operators and narrators: it stops together, and the first failure stops it. */

/** The reason with which everything ends when all is well. */
class Curtain extends Error {}

/**
 * Supervises background work.
 *
 * *Guarantees*: after {@link Backstage.close} nothing is running, and `failure` is the first failure.
 * A failure that results from stopping the demo does not count.
 */
export class Backstage {
  /** Aborts when the user stops the demo, when it is over and when something fails. */
  readonly signal: AbortSignal
  readonly #stopped: AbortSignal
  readonly #end = new AbortController()
  readonly #work: Promise<void>[] = []
  #failure: Error | undefined

  constructor(stopped: AbortSignal) {
    this.#stopped = stopped
    this.signal = AbortSignal.any([stopped, this.#end.signal])
  }

  /** The first failure. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Starts something that ends with `signal`. */
  start(work: (signal: AbortSignal) => Promise<void>): void {
    this.#work.push(work(this.signal).catch((error: unknown) => this.fail(error)))
  }

  /** Notes a failure and ends everything. */
  fail(error: unknown): void {
    if (this.#stopped.aborted || error instanceof Curtain) return
    this.#failure ??= error instanceof Error ? error : new Error(String(error))
    this.#end.abort(this.#failure)
  }

  /** Ends everything and resolves when nothing is running. */
  async close(): Promise<void> {
    this.#end.abort(new Curtain('the demo is over'))
    await Promise.all(this.#work)
  }
}
