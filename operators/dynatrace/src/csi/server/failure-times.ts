/** Measures for how long calls for a volume have been failing, without the disk: it may be what makes them fail. */

/** More than a node has; the oldest are forgotten, of pods that no longer exist. */
const MAX_VOLUMES = 1_000

/**
 * The times of first failures. They are in memory: after a restart of the driver they begin again.
 *
 * @example
 * if (failures.haveLasted(volume.id, volume.retryTimeoutMs)) giveUp()
 */
export class FailureTimes {
  readonly #firstMs = new Map<string, number>()
  readonly #now: () => number

  /** @param now milliseconds since 1970 */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Records a failure; returns whether the first one was more than `timeoutMs` ago. */
  haveLasted(volumeId: string, timeoutMs: number): boolean {
    const firstMs = this.#firstMs.get(volumeId) ?? this.#now()
    this.#firstMs.set(volumeId, firstMs)
    const [oldest] = this.#firstMs.keys()
    if (this.#firstMs.size > MAX_VOLUMES && oldest !== undefined) this.#firstMs.delete(oldest)
    return this.#now() > firstMs + timeoutMs
  }

  /** Forgets the failures of a volume. */
  clear(volumeId: string): void {
    this.#firstMs.delete(volumeId)
  }
}
