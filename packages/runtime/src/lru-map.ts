/** A map of bounded size that evicts the least recently used entry. */

/**
 * @example
 * const recent = new LruMap<string, number>(1_000)
 * recent.set('a', 1)
 */
export class LruMap<K, V> {
  readonly #capacity: number
  /** In order of last use, the longest ago first: a Map keeps insertion order, and every use inserts again. */
  readonly #entries = new Map<K, V>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#entries.size
  }

  /** The value, which counts as used now. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#capacity) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  /** In order of last use, the longest ago first. */
  keys(): Iterable<K> {
    return this.#entries.keys()
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }

  /** The value, created if it is missing. */
  getOrMake(key: K, make: () => V): V {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }
}
