/**
 * The compact form of some fields of an object, for as long as nobody reads them.
 *
 * A layout says how the fields are built, and has the parts that many objects share. Pods of one ReplicaSet have the same
 * layout; in what they differ is one text for each of them. A pod of 4 KiB JSON is a text of a few hundred bytes this
 * way, where objects, arrays and strings of its own would take ten times as much.
 */

/** Ends each value of the text. A string that contains it cannot be packed. */
const SEPARATOR = '\0'

/** At most so many characters are taken over at either end: their number is written as one character of one byte. */
const MAX_TAKEN = 200

const EMPTY_OBJECT = Object.freeze({})
const EMPTY_ARRAY: readonly unknown[] = Object.freeze([])

/**
 * How values are built, one character for each, in the order in which they begin.
 *
 * An object takes its keys from the parts if many objects have the same ones, and otherwise from the text.
 */
export const CODES = Object.freeze({
  string: 's',
  number: 'n',
  true: 't',
  false: 'f',
  null: 'z',
  /** Equal in many objects: the next of {@link Layout.parts}. */
  part: 'p',
  emptyObject: 'O',
  emptyArray: 'A',
  /** The keys are the next of {@link Layout.parts}. */
  object: 'o',
  /** Each key is the next text, before its value. */
  keyedObject: '{',
  keyedObjectEnd: '}',
  array: '[',
  arrayEnd: ']',
})

/** How fields are built from a text. */
export interface Layout {
  /** The names of the fields. */
  readonly names: readonly string[]
  /** Their values; see {@link CODES}. */
  readonly code: string
  /** Values and lists of keys, in the order in which the code needs them. */
  readonly parts: readonly unknown[]
  /** The values of one object, from which others say how they differ. Undefined if only one object has the layout. */
  readonly texts: readonly string[] | undefined
}

/** Fields in their compact form. */
export interface PackedFields {
  readonly layout: Layout
  readonly text: string
}

/** Fields from their layout, and the strings, numbers and keys that it needs; undefined if they cannot be packed. */
export function packFields(layout: Layout, texts: readonly string[]): PackedFields | undefined {
  const values: string[] = []
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index] ?? ''
    const value = layout.texts === undefined ? text : encodeDifference(layout.texts[index] ?? '', text)
    if (value !== '' && value.includes(SEPARATOR)) return undefined
    values.push(value)
  }
  return { layout, text: values.join(SEPARATOR) }
}

/** Builds fields from their compact form: equal to the original, frozen, and new each time except for shared parts. */
export function unpackFields({ layout, text }: PackedFields): Readonly<Record<string, unknown>> {
  return new Unpacking(layout, text).fields()
}

/**
 * How `text` differs from `base`: empty if it does not; otherwise how many characters are taken over from the beginning
 * and from the end, and what is between them.
 */
function encodeDifference(base: string, text: string): string {
  if (text === base) return ''
  const max = Math.min(base.length, text.length)
  const maxStart = Math.min(max, MAX_TAKEN)
  let start = 0
  while (start < maxStart && base.charCodeAt(start) === text.charCodeAt(start)) start++
  const maxEnd = Math.min(max - start, MAX_TAKEN)
  let end = 0
  while (end < maxEnd && base.charCodeAt(base.length - 1 - end) === text.charCodeAt(text.length - 1 - end)) end++
  return String.fromCharCode(start + 1, end + 1) + text.slice(start, text.length - end)
}

function decodeDifference(base: string, difference: string): string {
  if (difference === '') return base
  const start = difference.charCodeAt(0) - 1
  const end = difference.charCodeAt(1) - 1
  return base.slice(0, start) + difference.slice(2) + base.slice(base.length - end)
}

class Unpacking {
  readonly #layout: Layout
  readonly #texts: readonly string[]
  #nextCode = 0
  #nextPart = 0
  #nextText = 0

  constructor(layout: Layout, text: string) {
    this.#layout = layout
    this.#texts = text.split(SEPARATOR)
  }

  fields(): Readonly<Record<string, unknown>> {
    return this.#object(this.#layout.names)
  }

  #text(): string {
    const index = this.#nextText++
    const text = this.#texts[index] ?? ''
    const { texts } = this.#layout
    return texts === undefined ? text : decodeDifference(texts[index] ?? '', text)
  }

  #value(): unknown {
    switch (this.#layout.code[this.#nextCode++]) {
      case CODES.string:
        return this.#text()
      case CODES.object:
        return this.#object(this.#layout.parts[this.#nextPart++] as readonly string[]) // keys, after this code
      case CODES.part:
        return this.#layout.parts[this.#nextPart++]
      case CODES.number:
        return Number(this.#text())
      case CODES.true:
        return true
      case CODES.false:
        return false
      case CODES.emptyObject:
        return EMPTY_OBJECT
      case CODES.emptyArray:
        return EMPTY_ARRAY
      case CODES.array:
        return this.#array()
      case CODES.keyedObject:
        return this.#keyedObject()
      default:
        return null
    }
  }

  #object(keys: readonly string[]): Readonly<Record<string, unknown>> {
    const object: Record<string, unknown> = {}
    for (let index = 0; index < keys.length; index++) object[keys[index] ?? ''] = this.#value()
    return Object.freeze(object)
  }

  #keyedObject(): Readonly<Record<string, unknown>> {
    const object: Record<string, unknown> = {}
    while (this.#layout.code[this.#nextCode] !== CODES.keyedObjectEnd) {
      const key = this.#text()
      object[key] = this.#value()
    }
    this.#nextCode++
    return Object.freeze(object)
  }

  #array(): readonly unknown[] {
    const array: unknown[] = []
    while (this.#layout.code[this.#nextCode] !== CODES.arrayEnd) array.push(this.#value())
    this.#nextCode++
    return Object.freeze(array)
  }
}
