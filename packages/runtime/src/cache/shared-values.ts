/** Stores equal parts of objects once: pods of one ReplicaSet differ in a handful of values out of a hundred. */
import { isEqual } from './is-equal.ts'
import { RecentValues, type SeenParts } from './recent-values.ts'
import { hashString, StructureOutline } from './structure-outline.ts'

/** Smaller parts cost less than the bookkeeping about them. */
const MIN_SHARED_BYTES = 40

/** Shorter strings are shared by the JSON parser already. */
const MIN_STRING_LENGTH = 11

/** Longer ones are contents (certificates, scripts) rather than names, and rarely equal. */
const MAX_STRING_LENGTH = 256

/** How much {@link SharedValues} remembers. */
export interface SharingLimits {
  /** Parts that occurred twice; up to twice as many are kept. @default 8_192 */
  readonly maxParts: number
  /** Roughly what those parts may take; up to twice as much is kept. @default 4 MiB */
  readonly maxBytes: number
  /** Parts that occurred once, of which only a hash is kept; a power of two, at most 65_536. @default 32_768 */
  readonly maxSeen: number
  /** Strings outside of parts, a power of two. @default 2_048 */
  readonly maxStrings: number
}

/** Defaults of {@link SharingLimits}. */
export const SHARING_LIMITS: SharingLimits = Object.freeze({
  maxParts: 8_192,
  maxBytes: 4 * 1024 * 1024,
  maxSeen: 32_768,
  maxStrings: 2_048,
})

/**
 * Replaces parts of values by equal parts of earlier values.
 *
 * The first time a part occurs, only its hash is remembered, so that the many parts that never occur again cost nothing;
 * when it occurs in a second object it is kept, and every later equal one is replaced by it.
 *
 * *Guarantees*: memory is bounded by {@link SharingLimits}, whatever is cached; what is replaced is compared, not only
 * hashed; each value is walked a fixed number of times.
 */
export class SharedValues {
  readonly #outline = new StructureOutline()
  readonly #parts: RecentValues<object>
  readonly #seen: SeenParts
  readonly #strings: (string | undefined)[]
  /** The next object or array of the outline. */
  #cursor = 0

  constructor(seen: SeenParts, limits: SharingLimits) {
    this.#seen = seen
    this.#parts = new RecentValues(limits.maxParts, limits.maxBytes)
    this.#strings = new Array<string | undefined>(limits.maxStrings).fill(undefined)
  }

  /** How many parts are remembered. */
  get size(): number {
    return this.#parts.size
  }

  /**
   * Describes `container`; the other functions then walk it in the same order, each object and array once.
   *
   * @returns false if it is not a plain JSON value, and cannot be walked
   */
  begin(container: object): boolean {
    this.#cursor = 0
    return this.#outline.scan(container)
  }

  /**
   * An equal part that was kept, or this one if it is kept from now on; undefined if it does not occur often enough: then
   * {@link SharedValues.enter} it.
   *
   * @param minBytes smaller parts are not looked for
   */
  find(container: object, minBytes = MIN_SHARED_BYTES): object | undefined {
    const index = this.#cursor
    const bytes = this.nextBytes
    if (bytes < minBytes) return undefined
    const hash = this.nextHash
    const known = this.#parts.get(hash)
    if (known !== undefined && isEqual(known, container)) {
      this.#cursor = this.#outline.ends[index] ?? index + 1
      return known
    }
    if (!this.#parts.fits(bytes) || !this.#seen.isRepeated(hash)) return undefined
    this.#parts.set(hash, container, bytes)
    return this.share(container)
  }

  /** The hash of the object or array that is walked next. */
  get nextHash(): number {
    return this.#outline.hashes[this.#cursor] ?? 0
  }

  /** Roughly the bytes that the object or array takes that is walked next. */
  get nextBytes(): number {
    return this.#outline.bytes[this.#cursor] ?? 0
  }

  /** Continues with what is inside the object or array. */
  enter(): void {
    this.#cursor++
  }

  /**
   * Freezes `container`, in place, after replacing what is inside it by equal parts. A frozen one is assumed to be frozen
   * all the way down.
   */
  share<T extends object>(container: T): T {
    if (Object.isFrozen(container)) {
      this.#cursor = this.#outline.ends[this.#cursor] ?? this.#cursor + 1
      return container
    }
    this.enter()
    // Replacing a value by an equal one is not observable, although the type is readonly.
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index++) container[index] = this.#shareValue(container[index])
    } else {
      const fields = container as Record<string, unknown>
      for (const key in fields) fields[key] = this.#shareValue(fields[key])
    }
    return Object.freeze(container)
  }

  /** An equal string, if one was seen not long ago. */
  shareString(text: string): string {
    if (text.length < MIN_STRING_LENGTH || text.length > MAX_STRING_LENGTH) return text
    const hash = hashString(text)
    const slot = (hash ^ (hash >>> 16)) & (this.#strings.length - 1)
    const known = this.#strings[slot]
    if (known === text) return known
    this.#strings[slot] = text
    return text
  }

  #shareValue(value: unknown): unknown {
    if (typeof value === 'string') return this.shareString(value)
    if (typeof value !== 'object' || value === null) return value
    return this.find(value) ?? this.share(value)
  }
}
