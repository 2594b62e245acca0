/** Small changes of an input as bytes: what is left is close to valid, and wrong in one place. */
import fc, { type Arbitrary } from 'fast-check'

/** One change. Places are in 65536ths of the input, so that a plan can be made before the input is known. */
export type ByteMutation =
  | { readonly kind: 'overwrite'; readonly at: number; readonly byte: number }
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'remove'; readonly at: number; readonly length: number }
  | { readonly kind: 'truncate'; readonly at: number }
  | { readonly kind: 'insert'; readonly at: number; readonly word: string }
  | { readonly kind: 'number'; readonly at: number; readonly word: string }
  | { readonly kind: 'copy'; readonly at: number; readonly from: number; readonly length: number }
  | { readonly kind: 'repeat'; readonly at: number; readonly length: number; readonly times: number }
  | { readonly kind: 'nest'; readonly at: number; readonly pair: readonly [string, string]; readonly depth: number }
  | { readonly kind: 'splice'; readonly at: number; readonly from: number }

const WHOLE = 0x10000

/** Words that upset parsers of many languages. */
const WORDS = [
  '__proto__',
  'constructor',
  '\0',
  '\r\n',
  '\t',
  '"',
  "'",
  '\\',
  '\\u0000',
  '\\ud800',
  '😀',
  'é',
  '\ufeff',
  '\u2028',
  '%',
  '*',
  '-',
  '--',
  '...',
  '/',
  '../',
  ':',
  ';',
  ',',
  '&',
  '=',
  '#',
  '|',
  '!',
  '?',
  '$',
  '{{',
  '<',
]

/** Numbers at the edges of what parsers hold them in. */
const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1e999',
  '1e-999',
  '007',
  '127',
  '128',
  '255',
  '256',
  '65535',
  '65536',
  '2147483647',
  '2147483648',
  '4294967296',
  '9007199254740993',
  '9223372036854775808',
  '18446744073709551616',
  '0x10',
  '1.5',
  '.5',
  '5.',
  'NaN',
  'Infinity',
  '9'.repeat(40),
  '9'.repeat(400),
]

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

const at = fc.nat(WHOLE - 1)
const length = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 64 }))

/**
 * Changes for inputs in a language with these words.
 *
 * @example
 * fc.sample(byteMutations(['in', 'notin']), 3)
 */
export function byteMutations(dictionary: readonly string[]): Arbitrary<ByteMutation> {
  const word =
    dictionary.length === 0
      ? fc.constantFrom(...WORDS)
      : fc.oneof(fc.constantFrom(...dictionary), fc.constantFrom(...WORDS))
  // Rarely large: repetition is what makes time and memory grow faster than the input does.
  const times = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 2, max: 8 }) },
    { weight: 1, arbitrary: fc.constantFrom(50, 300, 2_000, 20_000) },
  )
  const pair = fc.oneof(
    fc.constantFrom(...PAIRS),
    word.map((opening) => [opening, ''] as const),
  )
  const depth = fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 5 }) },
    { weight: 1, arbitrary: fc.constantFrom(100, 1_000, 10_000) },
  )
  return fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('overwrite' as const), at, byte: fc.nat(255) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('flip' as const), at, bit: fc.nat(7) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), at, length }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('truncate' as const), at }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('insert' as const), at, word }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('number' as const), at, word: fc.constantFrom(...NUMBERS) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('copy' as const), at, from: at, length }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('repeat' as const), at, length, times }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('nest' as const), at, pair, depth }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('splice' as const), at, from: at }) },
  )
}

/** Performs one change; `other` is another input of the corpus, for those that take a part of it. */
export function mutateBytes(input: Buffer, mutation: ByteMutation, other: Buffer): Buffer {
  const place = placeIn(input, mutation.at)
  const [before, after] = [input.subarray(0, place), input.subarray(place)]
  switch (mutation.kind) {
    case 'overwrite':
      return Buffer.concat([before, Buffer.of(mutation.byte), after.subarray(1)])
    case 'flip':
      return Buffer.concat([before, Buffer.of((after[0] ?? 0) ^ (1 << mutation.bit)), after.subarray(1)])
    case 'remove':
      return Buffer.concat([before, after.subarray(mutation.length)])
    case 'truncate':
      return before
    case 'insert':
      return Buffer.concat([before, Buffer.from(mutation.word), after])
    case 'number':
      return Buffer.concat([before, replaceNumber(after, mutation.word)])
    case 'copy': {
      const start = placeIn(input, mutation.from)
      return Buffer.concat([before, input.subarray(start, start + mutation.length), after])
    }
    case 'repeat': {
      const part = after.subarray(0, mutation.length)
      return Buffer.concat([before, ...Array.from({ length: mutation.times }, () => part), after])
    }
    case 'nest': {
      const [opening, closing] = mutation.pair
      const middle = after.subarray(0, Math.min(8, after.length))
      const text = [Buffer.from(opening.repeat(mutation.depth)), middle, Buffer.from(closing.repeat(mutation.depth))]
      return Buffer.concat([before, ...text, after.subarray(middle.length)])
    }
    case 'splice':
      return Buffer.concat([before, other.subarray(placeIn(other, mutation.from))])
  }
}

function placeIn(input: Buffer, at: number): number {
  return Math.floor((at / WHOLE) * (input.length + 1))
}

/** The first number in `text`, if there is one, becomes another. */
function replaceNumber(text: Buffer, word: string): Buffer {
  const found = /-?\d+/.exec(text.toString('latin1'))
  if (found === null) return text
  return Buffer.concat([text.subarray(0, found.index), Buffer.from(word), text.subarray(found.index + found[0].length)])
}
