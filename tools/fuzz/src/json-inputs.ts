/** Arbitrary JSON with the members that break careless code. */
import fc, { type Arbitrary } from 'fast-check'

/** Names that mean something to JavaScript, or to code that joins names to paths. */
export const HOSTILE_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '',
  '.',
  '/',
  '~1',
  '$ref',
]

/** Values at the edges of what a type can hold. */
const HOSTILE_SCALARS: readonly (string | number | boolean | null)[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  '',
  ' ',
  'x',
  '0',
  '-1',
  'true',
  'null',
  '__proto__',
  '\u0000',
  '\ud800',
  '\u2028',
  '😀',
  '../..',
  '%00',
  'a'.repeat(300),
]

const scalar = fc.oneof(fc.constantFrom(...HOSTILE_SCALARS), fc.string({ maxLength: 12 }), fc.integer())
const key = fc.oneof(
  { weight: 5, arbitrary: fc.string({ maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_KEYS) },
)

/** Any JSON value, small. Objects are as `JSON.parse` makes them: `__proto__` is a member like any other. */
export const jsonValue: Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 4 }) },
    {
      weight: 2,
      arbitrary: fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    },
  ),
})).value

/**
 * The text of values of one shape, with any value in place of a member now and then.
 *
 * @example
 * inputs: jsonOf({ kind: fc.constantFrom('AdmissionReview'), request: jsonValue })
 */
export function jsonOf(members: Readonly<Record<string, Arbitrary<unknown>>>): Arbitrary<string> {
  const loose = Object.fromEntries(
    Object.entries(members).map(([name, arbitrary]) => [
      name,
      fc.oneof({ weight: 12, arbitrary }, { weight: 1, arbitrary: jsonValue }),
    ]),
  )
  return fc.record(loose, { requiredKeys: [] }).map((value) => JSON.stringify(value))
}

/** The text of any JSON value. */
export const jsonDocument: Arbitrary<string> = jsonValue.map((value) => JSON.stringify(value))
