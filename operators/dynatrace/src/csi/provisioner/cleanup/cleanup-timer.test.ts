import { expect, it } from 'vitest'
import { CleanupTimer, cleanupPeriodMs } from './cleanup-timer.ts'

it.each([
  [undefined, 30 * 60_000],
  ['', 30 * 60_000],
  ['22m', 22 * 60_000],
  ['1h30m', 90 * 60_000],
  ['0', undefined],
  ['-5m', undefined],
  ['soon', undefined],
])('a period of %j is %j milliseconds', (text, expected) => {
  expect(cleanupPeriodMs(text)).toBe(expected)
})

it('a period begins at the end of the work before, also if that failed', async () => {
  let now = 0
  const timer = new CleanupTimer(100, { now: () => now })
  expect(timer.isDue).toBe(true)
  const failing = timer.run(async () => {
    now = 50
    throw new Error('no')
  })
  await expect(failing).rejects.toThrow('no')
  now = 149
  expect(timer.isDue).toBe(false)
  now = 150
  expect(timer.isDue).toBe(true)
})
