/** The live objects of one resource, in the byte order of their keys. */
import type { StoredObject } from './stored-object.ts'

/** A part of a collection, in key order. */
export interface Range {
  /** Only keys that start with this, such as `default/`. @default '' */
  readonly prefix?: string
  /** Only keys after this one. */
  readonly after?: string
}

/** Keys are kept sorted on insertion, so that a list or page is a slice. */
export class Collection {
  readonly #keys: string[] = []
  readonly #objects = new Map<string, StoredObject>()

  get size(): number {
    return this.#keys.length
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(key)
  }

  set(stored: StoredObject): void {
    if (!this.#objects.has(stored.key)) {
      const last = this.#keys.at(-1)
      if (last === undefined || stored.key > last) this.#keys.push(stored.key)
      else this.#keys.splice(this.#position(stored.key), 0, stored.key)
    }
    this.#objects.set(stored.key, stored)
  }

  delete(key: string): void {
    if (!this.#objects.delete(key)) return
    this.#keys.splice(this.#position(key), 1)
  }

  /** The objects of `range`, in key order. */
  *range(range: Range = {}): Generator<StoredObject> {
    const { prefix = '', after } = range
    let index = this.#position(prefix)
    if (after !== undefined && after >= prefix) {
      index = this.#position(after)
      if (this.#keys[index] === after) index += 1
    }
    for (; index < this.#keys.length; index += 1) {
      const key = this.#keys[index]
      if (key === undefined || !key.startsWith(prefix)) return
      const stored = this.#objects.get(key)
      if (stored !== undefined) yield stored
    }
  }

  /** Index of the first key that is not before `key`. */
  #position(key: string): number {
    let low = 0
    let high = this.#keys.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#keys[middle] ?? '') < key) low = middle + 1
      else high = middle
    }
    return low
  }
}
