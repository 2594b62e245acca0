/**
 * Freezes objects for a cache and keeps equal parts of them once: pods of one ReplicaSet differ in a handful of values out
 * of a hundred.
 */

/** Shorter strings are shared by the JSON parser already. */
const MIN_STRING_LENGTH = 11

/** Longer strings are contents (certificates, scripts): they are shared as a part of an equal object only. */
const MAX_STRING_LENGTH = 256

/** Objects nested deeper are frozen only: recursion must not depend on what a server sends. */
const MAX_DEPTH = 100

/** How much {@link SharedParts} remembers. */
export interface SharingLimits {
  /** Parts that occurred twice. @default 16_384 */
  readonly maxParts: number
  /** Roughly what those parts take in memory, if all objects that contain them are gone. @default 8 MiB */
  readonly maxBytes: number
  /** Parts that occurred once, of which only a hash is kept; a power of two. @default 32_768 */
  readonly maxSeen: number
  /** Strings, a power of two. @default 2_048 */
  readonly maxStrings: number
}

/** Defaults of {@link SharingLimits}. */
export const SHARING_LIMITS: SharingLimits = Object.freeze({
  maxParts: 16_384,
  maxBytes: 8 * 1024 * 1024,
  maxSeen: 32_768,
  maxStrings: 2_048,
})

type Container = Record<string | number, unknown>

/**
 * Freezes objects, after replacing what is inside them by equal parts of earlier objects, from the innermost outwards.
 *
 * The first time a part occurs, only its hash is remembered, so that the many parts that never occur again cost nothing;
 * the second time it is kept, and replaces every later equal one.
 *
 * *Guarantees*: an object has the same value as before; what is remembered is bounded by {@link SharingLimits}, whatever is
 * cached; the same objects in the same order share the same parts.
 *
 * @example
 * const pod = new SharedParts().freeze(JSON.parse(text))
 */
export class SharedParts {
  readonly #seen: Int32Array
  readonly #strings: (string | undefined)[]
  readonly #limits: SharingLimits
  /** Parts by hash. Those that nobody asked for since the last generation began are dropped with the older one. */
  #recent = new Map<number, Part>()
  #older = new Map<number, Part>()
  #recentBytes = 0
  /** Roughly the bytes of what was walked so far. */
  #walkedBytes = 0

  constructor(limits: SharingLimits = SHARING_LIMITS) {
    this.#limits = limits
    this.#seen = new Int32Array(limits.maxSeen)
    this.#strings = new Array<string | undefined>(limits.maxStrings).fill(undefined)
  }

  /** How many parts are kept for later objects. */
  get size(): number {
    return this.#recent.size + this.#older.size
  }

  /**
   * Freezes an object and everything inside it, in place. Frozen values are assumed to be frozen all the way down, and are
   * taken as they are.
   */
  freeze<T extends object>(object: T): T {
    if (!isOpen(object)) return freezeDeep(object)
    for (const key in object) this.#share(object, key, 1)
    return Object.freeze(object)
  }

  /** Replaces the value of a field, or an item of an array, by an equal one, and returns the hash of the value. */
  #share(holder: Container, key: string | number, depth: number): number {
    const value = holder[key]
    this.#walkedBytes += 8
    switch (typeof value) {
      case 'string': {
        const hash = hashOf(value)
        if (value.length >= MIN_STRING_LENGTH) {
          this.#walkedBytes += 16 + value.length
          // Replacing a value by an equal one is not observable, although the type is readonly.
          if (value.length <= MAX_STRING_LENGTH) holder[key] = this.#sharedString(value, hash)
        }
        return hash
      }
      case 'number':
        return value | 0
      case 'boolean':
        return value ? 2 : 3
      case 'object': {
        if (value === null || depth > MAX_DEPTH || !isOpen(value)) {
          freezeDeep(value)
          return 1
        }
        const before = this.#walkedBytes
        let hash = 5
        if (Array.isArray(value))
          for (let at = 0; at < value.length; at++) hash = mix(hash, this.#share(value, at, depth + 1))
        else for (const name in value) hash = mix(hash ^ hashOf(name), this.#share(value, name, depth + 1))
        const known = this.#equalPart(hash, value, 32 + this.#walkedBytes - before)
        if (known === undefined) Object.freeze(value)
        else holder[key] = known
        return hash
      }
      default:
        return 0
    }
  }

  /** An equal part that was kept. What is inside `container` is shared and frozen already. */
  #equalPart(hash: number, container: Container, bytes: number): object | undefined {
    let part = this.#recent.get(hash)
    if (part === undefined) {
      part = this.#older.get(hash)
      if (part !== undefined) this.#keep(hash, part)
    }
    if (part !== undefined && hasSameValues(part.value, container)) return part.value
    const slot = (hash ^ (hash >>> 16)) & (this.#seen.length - 1)
    // One that takes the place of most others is not kept.
    if (this.#seen[slot] === hash && bytes * 16 <= this.#limits.maxBytes) this.#keep(hash, { value: container, bytes })
    else this.#seen[slot] = hash
    return undefined
  }

  #keep(hash: number, part: Part): void {
    const { maxParts, maxBytes } = this.#limits
    if (this.#recent.size >= maxParts / 2 || this.#recentBytes + part.bytes > maxBytes / 2) {
      this.#older = this.#recent
      this.#recent = new Map()
      this.#recentBytes = 0
    }
    this.#recentBytes += part.bytes - (this.#recent.get(hash)?.bytes ?? 0)
    this.#recent.set(hash, part)
  }

  #sharedString(text: string, hash: number): string {
    const slot = (hash ^ (hash >>> 16)) & (this.#strings.length - 1)
    const known = this.#strings[slot]
    if (known === text) return known
    this.#strings[slot] = text
    return text
  }
}

interface Part {
  readonly value: Container
  readonly bytes: number
}

/** Whether a value can be walked and changed: not frozen, and not an instance of a class. */
function isOpen(value: object): value is Container {
  return !Object.isFrozen(value) && (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype)
}

/** Whether two containers have the same values under the same keys in the same order, where equal objects are the same. */
function hasSameValues(a: Container, b: Container): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => Object.is(item, b[at]))
  if (Array.isArray(b)) return false
  const keys = Object.keys(a)
  let count = 0
  for (const key in b) if (key !== keys[count++] || !Object.is(a[key], b[key])) return false
  return count === keys.length
}

/** A 32-bit hash. Not secure: whoever looks something up by it compares the values, too. Samples the middle of long ones. */
function hashOf(text: string): number {
  const { length } = text
  let hash = length ^ 0x5bd1e995
  const step = 1 + (length >> 6)
  for (let at = length - 1; at >= 0; at -= step) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 15)
}

/** Adds one hash to another; the order matters. */
function mix(hash: number, other: number): number {
  const mixed = Math.imul(hash ^ other, 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}

/** Freezes a value and everything inside it, however deep. */
function freezeDeep<T>(value: T): T {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue
    Object.freeze(next)
    for (const child of Object.values(next)) waiting.push(child)
  }
  return value
}
