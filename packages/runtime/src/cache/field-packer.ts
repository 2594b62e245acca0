/** Packs fields of objects: finds out what repeats from object to object, and what is left. */
import { CODES, type Layout, type PackedFields, packFields } from './layout.ts'
import { matchLayout } from './layout-match.ts'
import { RecentValues, type SeenParts } from './recent-values.ts'
import type { SharedValues } from './shared-values.ts'
import { hashString, mixHashes } from './structure-outline.ts'

/**
 * Smaller parts are written as text although they repeat: there, what is as in other objects costs a character for each
 * value, and by chance equal parts would lead to more layouts.
 */
const MIN_SHARED_BYTES = 100

/** How many layouts, and lists of keys, are remembered, and what they may take; up to twice as many are kept. */
const MAX_LAYOUTS = 2_048
const MAX_LAYOUT_BYTES = 4 * 1024 * 1024
const MAX_KEYS_BYTES = 256 * 1024

/** Packs fields. One for all objects of a cache, so that they share their layouts. */
export class FieldPacker {
  readonly #seen: SeenParts
  readonly #values: SharedValues
  readonly #layouts = new RecentValues<Layout>(MAX_LAYOUTS, MAX_LAYOUT_BYTES)
  readonly #keys = new RecentValues<readonly string[]>(MAX_LAYOUTS, MAX_KEYS_BYTES)
  /** The layout that objects of one kind or owner had last. */
  readonly #expected = new RecentValues<Layout>(MAX_LAYOUTS, MAX_LAYOUT_BYTES)
  #names: string[] = []
  #code: string[] = []
  #texts: string[] = []
  #parts: unknown[] = []
  #hash = 0
  /** Roughly what the layout takes in memory, with its parts. */
  #bytes = 0

  constructor(seen: SeenParts, values: SharedValues) {
    this.#seen = seen
    this.#values = values
  }

  /**
   * Packs the fields of an object if they are built as those of the object before.
   *
   * @param family equal for objects that are probably built alike
   */
  packExpected(family: number, object: Readonly<Record<string, unknown>>): PackedFields | undefined {
    const layout = this.#expected.get(family)
    const texts = layout === undefined ? undefined : matchLayout(layout, object)
    return layout === undefined || texts === undefined ? undefined : packFields(layout, texts)
  }

  /** Starts with the next object. */
  begin(): void {
    this.#names = []
    this.#code = []
    this.#texts = []
    this.#parts = []
    this.#hash = 0
    this.#bytes = 0
  }

  /** Adds a field, with whose value {@link SharedValues.begin} was called. */
  add(name: string, value: object): void {
    this.#names.push(name)
    this.#enter(value)
  }

  /** The fields that were added; undefined if there are none, or if they cannot be packed. */
  finish(family: number): PackedFields | undefined {
    if (this.#names.length === 0) return undefined
    const layout = this.#layout()
    if (layout.texts !== undefined) this.#expected.set(family, layout, this.#bytes)
    return packFields(layout, this.#texts)
  }

  #layout(): Layout {
    const code = this.#code.join('')
    const names = this.#knownKeys(this.#names) ?? this.#names
    const hash = mixHashes(mixHashes(hashString(code), this.#hash), names.length)
    const parts = this.#parts
    const known = this.#layouts.get(hash)
    if (known?.code === code && isSame(known.names, names) && isSame(known.parts, parts)) return known
    const isRepeated = this.#layouts.fits(this.#bytes) && this.#seen.isRepeated(hash)
    // Copied: these arrays have room to grow.
    const layout = { names, code, parts: parts.slice(), texts: isRepeated ? this.#texts.slice() : undefined }
    if (isRepeated) this.#layouts.set(hash, layout, this.#bytes)
    return layout
  }

  #value(value: unknown): void {
    switch (typeof value) {
      case 'string':
        this.#text(CODES.string, value)
        return
      case 'number':
        this.#text(CODES.number, String(value))
        return
      case 'boolean':
        this.#code.push(value ? CODES.true : CODES.false)
        return
      default:
        if (value === null) this.#code.push(CODES.null)
        else this.#container(value as object) // the outline found nothing but JSON
    }
  }

  #container(container: object): void {
    const { nextHash, nextBytes } = this.#values
    const known = this.#values.find(container, MIN_SHARED_BYTES)
    if (known === undefined) this.#enter(container)
    else this.#part(CODES.part, known, nextHash, nextBytes)
  }

  #enter(container: object): void {
    this.#values.enter()
    if (Array.isArray(container)) this.#array(container)
    else this.#object(container as Readonly<Record<string, unknown>>) // the outline found nothing but JSON
  }

  #array(array: readonly unknown[]): void {
    if (array.length === 0) {
      this.#code.push(CODES.emptyArray)
      return
    }
    this.#code.push(CODES.array)
    for (const item of array) this.#value(item)
    this.#code.push(CODES.arrayEnd)
  }

  #object(fields: Readonly<Record<string, unknown>>): void {
    const keys = Object.keys(fields)
    if (keys.length === 0) {
      this.#code.push(CODES.emptyObject)
      return
    }
    const known = this.#knownKeys(keys)
    if (known !== undefined) {
      this.#part(CODES.object, known, known.length, 0)
      for (const key of keys) this.#value(fields[key])
      return
    }
    this.#code.push(CODES.keyedObject)
    for (const key of keys) {
      this.#texts.push(key)
      this.#bytes += 24 + key.length
      this.#value(fields[key])
    }
    this.#code.push(CODES.keyedObjectEnd)
  }

  #text(code: string, text: string): void {
    this.#code.push(code)
    this.#texts.push(text)
    this.#bytes += 24 + text.length
  }

  #part(code: string, part: unknown, hash: number, bytes: number): void {
    this.#code.push(code)
    this.#parts.push(part)
    this.#hash = mixHashes(this.#hash, hash)
    this.#bytes += 8 + bytes
  }

  /** The same list of keys, if it occurred before: keys that did not are part of the text. */
  #knownKeys(keys: readonly string[]): readonly string[] | undefined {
    let hash = keys.length
    let bytes = 64
    for (const key of keys) {
      hash = mixHashes(hash, hashString(key))
      bytes += 8 + key.length
    }
    const known = this.#keys.get(hash)
    if (known !== undefined && isSame(known, keys)) return known
    if (!this.#seen.isRepeated(hash)) return undefined
    this.#keys.set(hash, Object.freeze(keys), bytes)
    return keys
  }
}

/** Whether two lists have the same items. */
function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}
