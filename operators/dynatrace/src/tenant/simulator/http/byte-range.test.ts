import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesEtag, parseRange } from './byte-range.ts'

test.each([
  ['bytes=0-9', { start: 0, end: 10 }],
  ['bytes=90-', { start: 90, end: 100 }],
  ['bytes=90-500', { start: 90, end: 100 }],
  ['bytes=-10', { start: 90, end: 100 }],
  ['bytes=-500', { start: 0, end: 100 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=9-3', undefined],
  ['bytes=0-1,5-6', undefined],
  ['lines=1-2', undefined],
  ['bytes=-', undefined],
  [undefined, undefined],
])('of 100 bytes %s requests %j', (header, range) => {
  expect(parseRange(header, 100)).toEqual(range)
})

test('any requested range lies inside', () => {
  fc.assert(
    fc.property(fc.nat(), fc.option(fc.nat()), fc.option(fc.nat()), (sizeBytes, first, last) => {
      const range = parseRange(`bytes=${first ?? ''}-${last ?? ''}`, sizeBytes)
      if (typeof range !== 'object') return
      expect(range.start).toBeGreaterThanOrEqual(0)
      expect(range.start).toBeLessThan(range.end)
      expect(range.end).toBeLessThanOrEqual(sizeBytes)
    }),
  )
})

test('an entity tag matches itself, in a list, weak, or by the star', () => {
  expect(['"a"', '"x", "a"', 'W/"a"', '*'].map((header) => matchesEtag(header, '"a"'))).not.toContain(false)
  expect([undefined, '"b"', 'a'].map((header) => matchesEtag(header, '"a"'))).not.toContain(true)
})
