import { expect, test } from 'vitest'
import { seededRandom } from './seeded-random.ts'

const take = (seed: number, count: number) => {
  const random = seededRandom(seed)
  return Array.from({ length: count }, random)
}

test('the same seed gives the same numbers, another seed different ones', () => {
  expect(take(7, 20)).toEqual(take(7, 20))
  expect(take(7, 20)).not.toEqual(take(8, 20))
})

test('numbers spread evenly over the unit interval', () => {
  const numbers = take(1, 10_000)
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true)
  for (let tenth = 0; tenth < 10; tenth++) {
    const inside = numbers.filter((number) => Math.floor(number * 10) === tenth).length
    expect(inside).toBeGreaterThan(900)
    expect(inside).toBeLessThan(1_100)
  }
})
