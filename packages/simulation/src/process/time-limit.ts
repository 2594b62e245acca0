/** A signal that aborts after a time, and keeps nothing alive when it is no longer needed. */

/** @example using limit = new TimeLimit(60_000) */
export class TimeLimit implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined

  /** @param ms none without it */
  constructor(ms: number | undefined) {
    if (ms !== undefined) this.#timer = setTimeout(() => this.#controller.abort(new Error('the time is over')), ms)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
