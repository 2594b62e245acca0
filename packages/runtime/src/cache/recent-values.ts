/** Bounded memories of what was cached before. Both are deterministic: the same objects in the same order share the same. */

interface Entry<V> {
  readonly value: V
  readonly bytes: number
}

/** Values by hash: at least the most recent ones. One that is found counts as recent. */
export class RecentValues<V> {
  readonly #maxCount: number
  readonly #maxBytes: number
  #recent = new Map<number, Entry<V>>()
  #older = new Map<number, Entry<V>>()
  #bytes = 0

  /** @param maxCount and `maxBytes`: of recent values; as many older ones are still found */
  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount
    this.#maxBytes = maxBytes
  }

  /** How many are remembered. */
  get size(): number {
    return this.#recent.size + this.#older.size
  }

  /** The value that was set for this hash. Equal hashes do not make equal values: compare it. */
  get(hash: number): V | undefined {
    const recent = this.#recent.get(hash)
    if (recent !== undefined) return recent.value
    const older = this.#older.get(hash)
    if (older === undefined) return undefined
    this.#older.delete(hash)
    this.set(hash, older.value, older.bytes)
    return older.value
  }

  /** Whether a value of this size is remembered: one is not if it would take the place of almost all others. */
  fits(bytes: number): boolean {
    return bytes * 16 <= this.#maxBytes
  }

  /** Remembers a value, if it {@link RecentValues.fits}. */
  set(hash: number, value: V, bytes: number): void {
    if (!this.fits(bytes)) return
    if (this.#recent.size >= this.#maxCount || this.#bytes + bytes > this.#maxBytes) {
      this.#older = this.#recent
      this.#recent = new Map()
      this.#bytes = 0
    }
    this.#bytes += bytes - (this.#recent.get(hash)?.bytes ?? 0)
    this.#recent.set(hash, { value, bytes })
  }
}

/**
 * Which parts occurred in an earlier object, by hash: most of the time, because a newer one may take the place of an
 * older one. Parts that repeat within one object, or from one version of it to the next, do not count.
 */
export class SeenParts {
  /** Half of a hash and half of the owner's, at the place given by the other half. */
  readonly #slots: Int32Array
  #owner = 0

  /** @param slots how many are remembered at most; a power of two, at most 65,536 */
  constructor(slots: number) {
    this.#slots = new Int32Array(slots)
  }

  /** What follows are parts of this object. */
  enter(owner: number): void {
    this.#owner = (owner ^ (owner >>> 16)) & 0xffff
  }

  /** Whether a part with this hash occurred in another object; it has occurred from now on. */
  isRepeated(hash: number): boolean {
    const slot = hash & (this.#slots.length - 1)
    const part = hash & 0xffff0000
    const known = this.#slots[slot] ?? 0
    if ((known & 0xffff0000) === part && known !== 0) return (known & 0xffff) !== this.#owner
    this.#slots[slot] = part | this.#owner
    return false
  }
}
