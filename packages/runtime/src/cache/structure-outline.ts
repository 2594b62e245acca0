/** Hashes of everything inside a JSON value, computed in one walk. */

/** Deeper values are not walked: recursion must not depend on what a server sends. */
const MAX_DEPTH = 100

/** Longer strings are hashed by their ends and by samples of their middle. */
const WHOLE_LENGTH = 64

const EDGE_LENGTH = 24
const SAMPLES = 16

/** Arrays larger than this are given up after use, so that one huge object does not keep memory for ever. */
const MAX_KEPT = 1 << 16

/** A 32-bit hash of a string. Not secure: whoever looks something up by it compares the values, too. */
export function hashString(text: string): number {
  const { length } = text
  let hash = length ^ 0x5bd1e995
  if (length <= WHOLE_LENGTH) {
    for (let at = 0; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  } else {
    const end = length - EDGE_LENGTH
    const step = Math.max(1, Math.floor((end - EDGE_LENGTH) / SAMPLES))
    for (let at = 0; at < EDGE_LENGTH; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    for (let at = EDGE_LENGTH; at < end; at += step) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    for (let at = end; at < length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash ^ (hash >>> 15)
}

/** Adds one hash to another; the order matters. */
export function mixHashes(hash: number, other: number): number {
  const mixed = Math.imul(hash ^ other, 0x85ebca6b)
  return mixed ^ (mixed >>> 13)
}

/**
 * The objects and arrays inside a value, in the order in which they begin: for each its hash, roughly the bytes that it
 * takes in memory, and where the next one outside it stands. Reused from value to value.
 */
export class StructureOutline {
  hashes: number[] = []
  bytes: number[] = []
  ends: number[] = []
  #count = 0
  #isPlain = true

  /**
   * Describes a value, and forgets the one before.
   *
   * @returns false if there is something inside that JSON cannot represent, the key `__proto__`, or too many levels
   */
  scan(container: object): boolean {
    if (this.hashes.length > MAX_KEPT) {
      this.hashes = []
      this.bytes = []
      this.ends = []
    }
    this.#count = 0
    this.#isPlain = true
    this.#container(container, 0)
    return this.#isPlain
  }

  #container(container: object, depth: number): number {
    const index = this.#count++
    const isArray = Array.isArray(container)
    if (depth > MAX_DEPTH || (!isArray && Object.getPrototypeOf(container) !== Object.prototype)) {
      this.#isPlain = false
      return 0
    }
    this.bytes[index] = isArray ? 48 : 24
    let hash: number
    if (isArray) {
      hash = container.length + 0x2c1b3c6d
      for (let at = 0; at < container.length; at++) hash = this.#child(index, hash, container[at], depth)
    } else {
      hash = 0x165667b1
      const fields = container as Readonly<Record<string, unknown>>
      for (const key in fields) {
        if (key === '__proto__') this.#isPlain = false
        hash = this.#child(index, mixHashes(hash, hashString(key)), fields[key], depth)
      }
    }
    this.hashes[index] = hash
    this.ends[index] = this.#count
    return hash
  }

  #child(parent: number, hash: number, value: unknown, depth: number): number {
    let bytes = 8
    let own: number
    switch (typeof value) {
      case 'string':
        own = hashString(value)
        if (value.length > 10) bytes += 16 + value.length
        break
      case 'number':
        own = value | 0
        // Both would come back as something else.
        if (!Number.isFinite(value) || Object.is(value, -0)) this.#isPlain = false
        break
      case 'boolean':
        own = value ? 0x27d4eb2f : 0x3c6ef372
        break
      case 'object': {
        if (value === null) {
          own = 0x1b873593
          break
        }
        const at = this.#count
        own = this.#container(value, depth + 1)
        bytes += this.bytes[at] ?? 0
        break
      }
      default:
        own = 0
        this.#isPlain = false
    }
    this.bytes[parent] = (this.bytes[parent] ?? 0) + bytes
    return mixHashes(hash, own)
  }
}
