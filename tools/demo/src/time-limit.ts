/** How long the demo may take until everything is ready: who is late has to say why. */

/** A limit for several pieces of work together, from its creation on. */
export class TimeLimit {
  readonly #seconds: number | undefined
  readonly #deadline: AbortSignal

  /** @param seconds no limit when left out */
  constructor(seconds?: number) {
    this.#seconds = seconds
    this.#deadline = seconds === undefined ? new AbortController().signal : AbortSignal.timeout(seconds * 1_000)
  }

  /**
   * Does some work until it is done, `signal` aborts or the time is up.
   *
   * *Errors*: those of the work; when the time is up, one with what `state` says about the reason.
   */
  async run<T>(
    signal: AbortSignal,
    work: (limit: AbortSignal) => Promise<T>,
    state: () => Promise<string>,
  ): Promise<T> {
    try {
      return await work(AbortSignal.any([signal, this.#deadline]))
    } catch (error) {
      if (!this.#deadline.aborted || signal.aborted) throw error
      throw new Error(`not ready within ${this.#seconds} s: ${await state()}`, { cause: error })
    }
  }
}
