import { expect, it } from 'vitest'
import { sameJson } from './law.ts'

it('takes -0 and 0 for the same number, as JSON does', () => {
  expect(() => sameJson('law', { a: [-0] }, { a: [0] })).not.toThrow()
})

it.each([
  [{ a: undefined }, {}],
  [{ a: 1 }, { a: 2 }],
  [[null], []],
])('finds the difference between %j and %j', (actual, expected) => {
  expect(() => sameJson('law', actual, expected)).toThrow('law: ')
})
