import { expect, test } from 'vitest'
import { humanDuration, since } from './age.ts'

const s = 1000
const m = 60 * s
const h = 60 * m
const d = 24 * h

test.each([
  [0, '0s'],
  [-500, '0s'],
  [-5 * s, '<invalid>'],
  [1 * s, '1s'],
  [119 * s, '119s'],
  [120 * s, '2m'],
  [9 * m + 24 * s, '9m24s'],
  [10 * m + 24 * s, '10m'],
  [179 * m, '179m'],
  [3 * h, '3h'],
  [7 * h + 59 * m, '7h59m'],
  [8 * h + 59 * m, '8h'],
  [47 * h, '47h'],
  [2 * d + 3 * h, '2d3h'],
  [7 * d, '7d'],
  [8 * d + 3 * h, '8d'],
  [2 * 365 * d + 5 * d, '2y5d'],
  [9 * 365 * d + 5 * d, '9y'],
])('%d ms is printed as %s', (milliseconds, text) => {
  expect(humanDuration(milliseconds)).toBe(text)
})

test('the age of a missing or malformed timestamp is printed as unknown', () => {
  expect(since(undefined, 0)).toBe('<unknown>')
  expect(since('yesterday', 0)).toBe('<unknown>')
  expect(since('1970-01-01T00:00:00Z', 5000)).toBe('5s')
})
