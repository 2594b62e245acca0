import { expect, test } from 'vitest'
import { RecentValues, SeenParts } from './recent-values.ts'

test('remembers no more values, and no more bytes, than twice its limits', () => {
  const byCount = new RecentValues<number>(10, 1_000_000)
  const byBytes = new RecentValues<number>(1_000_000, 1_600)
  for (let index = 0; index < 1_000; index++) {
    byCount.set(index, index, 1)
    byBytes.set(index, index, 100)
  }
  expect(byCount.size).toBeLessThanOrEqual(20)
  expect(byBytes.size).toBeLessThanOrEqual(32)
})

test('remembers what is used, however much is new', () => {
  const values = new RecentValues<string>(10, 1_000_000)
  values.set(-1, 'in use', 1)
  for (let index = 0; index < 1_000; index++) {
    values.set(index, 'new', 1)
    expect(values.get(-1)).toBe('in use')
  }
})

test('one huge value does not take the place of the others', () => {
  const values = new RecentValues<string>(10, 1_000)
  values.set(1, 'small', 10)
  values.set(2, 'huge', 900)
  expect([values.get(1), values.get(2)]).toEqual(['small', undefined])
})

test('a part counts as repeated only when another object has it', () => {
  const seen = new SeenParts(1_024)
  seen.enter(1)
  expect([seen.isRepeated(0x12345678), seen.isRepeated(0x12345678)]).toEqual([false, false])
  seen.enter(2)
  expect(seen.isRepeated(0x12345678)).toBe(true)
})
