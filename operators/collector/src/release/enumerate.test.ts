import { expect, it } from 'vitest'
import { enumerate } from './enumerate.ts'

it('an enumeration names what there is, and counts what would be too much', () => {
  expect(enumerate([])).toBe('')
  expect(enumerate(['a', 'b'], '; ')).toBe('a; b')
  const many = Array.from({ length: 12 }, (_, index) => `${index}`)
  expect(enumerate(many.slice(0, 10))).toBe('0, 1, 2, 3, 4, 5, 6, 7, 8, 9')
  expect(enumerate(many)).toBe('0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
})
