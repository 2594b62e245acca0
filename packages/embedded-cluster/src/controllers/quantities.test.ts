import { describe, expect, it } from 'vitest'
import { formatIndexes, parseIndexes } from './jobs/accounting.ts'
import { amountOf, resolveIntOrPercent } from './quantities.ts'
import { parseDuration } from './time.ts'

describe('parsing', () => {
  it('supports quantities', () => {
    expect(['250m', '2', '1Ki', '1.5Gi', '1e3', '5G', 3, 'nonsense', undefined].map(amountOf)).toEqual([
      0.25,
      2,
      1024,
      1.5 * 2 ** 30,
      1000,
      5e9,
      3,
      0,
      0,
    ])
  })

  it('supports percentages, rounded as the field requires', () => {
    expect(resolveIntOrPercent(2, 10, 'up')).toBe(2)
    expect(resolveIntOrPercent('25%', 10, 'up')).toBe(3)
    expect(resolveIntOrPercent('25%', 10, 'down')).toBe(2)
    expect(resolveIntOrPercent('0%', 10, 'up')).toBe(0)
    expect(resolveIntOrPercent('lots', 10, 'up')).toBe(0)
  })

  it('supports durations', () => {
    expect(['250ms', '30s', '1m30s', '1.5h', 'forever', '30', '', undefined].map(parseDuration)).toEqual([
      250,
      30_000,
      90_000,
      5_400_000,
      Number.POSITIVE_INFINITY,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('supports completion indexes, and formats them', () => {
    expect([...parseIndexes('0-2,5')]).toEqual([0, 1, 2, 5])
    expect(formatIndexes(new Set([5, 1, 0, 2]))).toBe('0-2,5')
    expect(formatIndexes([])).toBe('')
  })

  it('of a status that claims billions are bounded', () => {
    expect(parseIndexes('0-2147483647,5').size).toBe(1_000_000)
  })
})
