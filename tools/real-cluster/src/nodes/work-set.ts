/** A set of keys to process: each at most once at a time, with limited concurrency. */

/**
 * Calls `work` for every key that was added.
 *
 * Guarantees: never two calls for one key at once; a key added while it is being processed is processed again.
 */
export class WorkSet {
  readonly #work: (key: string) => Promise<void>
  readonly #limit: number
  readonly #waiting = new Set<string>()
  readonly #active = new Map<string, Promise<void>>()
  #isStopped = false

  /** `work` must not reject; it handles its own errors. */
  constructor(work: (key: string) => Promise<void>, limit: number) {
    this.#work = work
    this.#limit = limit
  }

  add(key: string): void {
    if (this.#isStopped) return
    this.#waiting.add(key)
    this.#next()
  }

  /** Drops waiting keys; resolves when no work is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    await Promise.all(this.#active.values())
  }

  #next(): void {
    for (const key of this.#waiting) {
      if (this.#active.size >= this.#limit) return
      if (this.#active.has(key)) continue
      this.#waiting.delete(key)
      const run = this.#work(key).finally(() => {
        this.#active.delete(key)
        this.#next()
      })
      this.#active.set(key, run)
    }
  }
}
