import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isNewer, isOrdered, newestOf } from './resource-version.ts'

test('versions compare as numbers of any size', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n }), fc.bigInt({ min: 1n, max: 2n ** 64n }), (a, b) => {
      expect(isNewer(String(a), String(b))).toBe(a > b)
    }),
  )
})

test.each(['', '0', '007', '-1', '1.5', 'abc', '1a'])('"%s" has no order', (text) => {
  expect(isOrdered(text)).toBe(false)
})

test('the newest of a known and an unknown version is the known one', () => {
  expect(newestOf('5', undefined)).toBe('5')
  expect(newestOf(undefined, '5')).toBe('5')
  expect(newestOf('10', '9')).toBe('10')
  expect(newestOf(undefined, undefined)).toBeUndefined()
})
