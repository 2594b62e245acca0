import { expect, it } from 'vitest'
import { sameJson } from './law.ts'

it('-0 and 0 are the same number, as in JSON', () => {
  expect(() => sameJson('law', { a: [-0] }, { a: [0] })).not.toThrow()
})

it.each([
  [{ a: undefined }, {}],
  [{ a: 1 }, { a: 2 }],
  [[null], []],
])('the difference between %j and %j is found', (actual, expected) => {
  expect(() => sameJson('law', actual, expected)).toThrow('law: ')
})
