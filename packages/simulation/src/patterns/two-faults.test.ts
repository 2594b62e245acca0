import { describe, expect, it } from 'vitest'
import { diagonal, inTurn } from './two-faults.ts'

describe('pairs of faults', () => {
  it('meet every fault of either side before any pair shares one twice', () => {
    const pairs = diagonal(['a', 'b', 'c'], [1, 2])
    expect(pairs.slice(0, 3)).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 1],
    ])
    expect(new Set(pairs.map(String)).size).toBe(6)
    expect(diagonal(['a'], [1, 2, 3]).map(([, second]) => second)).toEqual([1, 2, 3])
    expect(diagonal([], [1])).toEqual([])
  })

  it('take one of each combination of kinds in turn', () => {
    expect(inTurn([['a', 'b'], ['c'], []])).toEqual(['a', 'c', 'b'])
  })
})
