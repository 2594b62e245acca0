/** Small edits of an input: the result is close to valid, and wrong in a few places. */
import fc, { type Arbitrary } from 'fast-check'
import { HOSTILE_KEYS, jsonValue } from './json-inputs.ts'

/** Texts that upset parsers of many languages. */
const HOSTILE_TEXTS = [
  '__proto__ constructor \0 \r\n \t " \' \\ \\u0000 \\ud800 😀 é \ufeff \u2028 % * - -- ... / ../ : ; , & = # | ! ? $ {{ <'.split(
    ' ',
  ),
  // Numbers at the edges of what parsers hold them in.
  '0 -0 -1 1e999 1e-999 007 127 128 255 256 65535 65536 2147483647 2147483648 4294967296 9007199254740993'.split(' '),
  '9223372036854775808 18446744073709551616 0x10 1.5 .5 5. NaN Infinity'.split(' '),
  ['9'.repeat(40), '9'.repeat(400)],
].flat()

/** What opens and closes in many languages. */
const PAIRS: readonly (readonly [string, string])[] = [
  ['[', ']'],
  ['{"a":', '}'],
  ['(', ')'],
  ['{', '}'],
  ['"', '"'],
  ['!', ''],
  ['-', ''],
  ['a.', ''],
  ['a[', ']'],
  ['- ', ''],
  ['a{9}', ''],
]

/** Places are in 65536ths of the input, so that edits can be made before the input is known. */
const place = fc.nat(0xffff)

/** A part of the input itself, or of another one. */
interface Part {
  readonly from: number
  readonly length: number
  readonly times: number
  readonly isOther: boolean
}

/** Replaces `remove` bytes at a place. */
interface TextEdit {
  readonly at: number
  readonly remove: number
  readonly insert: Uint8Array | Part
}

/**
 * An input with up to five edits; the words of its language are among what is inserted.
 *
 * @example
 * fc.sample(editedText(fc.constant(Buffer.from('app in (web)')), ['in', 'notin']), 3)
 */
export function editedText(input: Arbitrary<Buffer>, words: readonly string[]): Arbitrary<Buffer> {
  return fc
    .tuple(input, input, fc.array(textEdit(words), { minLength: 1, maxLength: 5 }))
    .map(([first, other, edits]) => edits.reduce((text, edit) => editText(text, edit, other), first))
}

function textEdit(words: readonly string[]): Arbitrary<TextEdit> {
  const word = fc.oneof(
    { weight: words.length === 0 ? 0 : 1, arbitrary: fc.constantFrom('', ...words) },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  )
  // Rarely large: repetition is what makes time and memory grow faster than the input does.
  const times = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 8 }) },
    { weight: 1, arbitrary: fc.constantFrom(50, 300, 2_000, 20_000) },
  )
  const depth = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }) },
    { weight: 1, arbitrary: fc.constantFrom(100, 1_000, 10_000) },
  )
  const pair = fc.oneof(
    fc.constantFrom(...PAIRS),
    word.map((opening) => [opening, ''] as const),
  )
  const length = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 64 }))
  const insert = fc.oneof(
    { weight: 3, arbitrary: fc.constant(Buffer.alloc(0)) },
    { weight: 6, arbitrary: word.map((text) => Buffer.from(text)) },
    { weight: 3, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 4 }) },
    { weight: 4, arbitrary: fc.record({ from: place, length, times, isOther: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({
        from: place,
        length: fc.constant(Infinity),
        times: fc.constant(1),
        isOther: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(pair, depth)
        .map(([[opening, closing], levels]) => Buffer.from(`${opening.repeat(levels)}0${closing.repeat(levels)}`)),
    },
  )
  const remove = fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 6, arbitrary: length },
    { weight: 1, arbitrary: fc.constant(Infinity) },
  )
  return fc.record({ at: place, remove, insert })
}

function editText(input: Buffer, { at, remove, insert }: TextEdit, other: Buffer): Buffer {
  const start = placeIn(input, at)
  return Buffer.concat([
    input.subarray(0, start),
    insert instanceof Uint8Array ? insert : copyOf(insert.isOther ? other : input, insert),
    input.subarray(start + remove),
  ])
}

function copyOf(source: Buffer, { from, length, times }: Part): Buffer {
  const start = placeIn(source, from)
  return Buffer.concat(Array.from({ length: times }, () => source.subarray(start, start + length)))
}

function placeIn(input: Buffer, at: number): number {
  return Math.floor((at / 0x10000) * (input.length + 1))
}

/** A place in a value: its container and the key there. */
interface Slot {
  readonly parent: object
  readonly key: string
}

/** Makes another value of that in a slot; `undefined` removes the member. */
type Change = (value: unknown, slots: readonly Slot[], other: Buffer) => unknown

/** Stands for a value that is nested too deep to be written by recursion. */
const DEEP = /(?<!\\)"<deep ([[{]) (\d{1,4})>"/

/** Repetition stops here; larger inputs are cut anyway. */
const MAX_REPEATED_LENGTH = 128 * 1024

/**
 * A JSON text with up to five edits of its value, after which it is JSON again; other texts are left as they are.
 *
 * @example
 * fc.sample(editedJson(fc.constant(Buffer.from('{"replicas": 1}')), ['spec']), 3)
 */
export function editedJson(input: Arbitrary<Buffer>, words: readonly string[]): Arbitrary<Buffer> {
  const edit = fc.record({
    at: place,
    change: change(words),
    rename: fc.option(fc.constantFrom(...HOSTILE_KEYS, ...words), { freq: 9, nil: undefined }),
  })
  return fc.tuple(input, input, fc.array(edit, { minLength: 1, maxLength: 5 })).map(([text, other, edits]) => {
    const value = parse(text.toString())
    if (value === undefined) return text
    const root = { value }
    for (const { at, change, rename } of edits) {
      const slots = slotsIn(root)
      const slot = slots[at % slots.length] ?? { parent: root, key: 'value' }
      const changed = change(valueAt(slot), slots, other)
      if (rename !== undefined) Reflect.deleteProperty(slot.parent, slot.key)
      // The value itself has no name.
      put(slot.parent, slot.parent === root ? slot.key : (rename ?? slot.key), changed)
    }
    // Once, because another edit may have made thousands of copies of it.
    return Buffer.from(
      JSON.stringify(root.value ?? null).replace(DEEP, (_, opening: string, depth: string) =>
        nested(opening, Number(depth)),
      ),
    )
  })
}

function change(words: readonly string[]): Arbitrary<Change> {
  const value = words.length === 0 ? jsonValue : fc.oneof(jsonValue, fc.constantFrom<unknown>(...words))
  const weighted = (weight: number, arbitrary: Arbitrary<Change>) => ({ weight, arbitrary })
  return fc.oneof(
    weighted(
      4,
      value.map((made) => () => structuredClone(made)),
    ),
    weighted(
      2,
      fc.constant(() => undefined),
    ),
    weighted(
      2,
      place.map((from) => (old, slots) => structuredClone(valueAt(slots[from % slots.length]) ?? old)),
    ),
    weighted(
      1,
      fc.constantFrom(2, 3, 100, 2_000).map((times) => (old) => repeated(old, times)),
    ),
    weighted(
      1,
      fc.tuple(fc.constantFrom('[', '{'), fc.constantFrom(3, 90, 300, 1_200, 9_000)).map(
        ([opening, depth]) =>
          () =>
            `<deep ${opening} ${depth}>`,
      ),
    ),
    weighted(
      4,
      textEdit(words).map((edit) => (old, _, other) => {
        const text = Buffer.from(typeof old === 'string' ? old : JSON.stringify(old))
        return editText(text, edit, other).toString().slice(0, MAX_REPEATED_LENGTH)
      }),
    ),
  )
}

function nested(opening: string, depth: number): string {
  return opening === '[' ? '['.repeat(depth) + ']'.repeat(depth) : `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`
}

function repeated(value: unknown, times: number): unknown[] {
  const length = Math.min(times, MAX_REPEATED_LENGTH / JSON.stringify(value).length)
  const copies = Array.from({ length }, () => structuredClone(value))
  return Array.isArray(value) ? copies.flat() : copies
}

/** All members, breadth first; the first is the value itself. */
function slotsIn(root: { readonly value: unknown }): readonly Slot[] {
  const slots: Slot[] = [{ parent: root, key: 'value' }]
  for (let index = 0; index < slots.length && slots.length < 2_000; index += 1) {
    const value = valueAt(slots[index])
    if (typeof value === 'object' && value !== null) {
      for (const key of Object.keys(value)) slots.push({ parent: value, key })
    }
  }
  return slots
}

/** Own members only, whatever their names. */
function valueAt(slot: Slot | undefined): unknown {
  return slot === undefined ? null : (Object.getOwnPropertyDescriptor(slot.parent, slot.key)?.value ?? null)
}

/** Plain assignment of `__proto__` would not make a member. */
function put(parent: object, key: string, value: unknown): void {
  if (Array.isArray(parent) && !/^\d{1,4}$/.test(key)) parent.push(value)
  else Object.defineProperty(parent, key, { value, enumerable: true, writable: true, configurable: true })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not every input of a target that takes JSON is one.
    return undefined
  }
}
