/** Serializes calls for one volume. */

/**
 * Runs work on the same key one after another. The kubelet repeats a call whose deadline passed while it still runs here.
 *
 * @example
 * await locks.run(volumeId, () => publish(volume))
 */
export class VolumeLocks {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Runs `work` after everything that was started before for `key`. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const own = before.then(work, work)
    this.#last.set(key, own)
    try {
      return await own
    } finally {
      if (this.#last.get(key) === own) this.#last.delete(key)
    }
  }
}
