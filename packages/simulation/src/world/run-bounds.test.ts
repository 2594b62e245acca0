import { describe, expect, it } from 'vitest'
import { RunBounds } from './run-bounds.ts'

const limits = { maxRequestsAtOnce: 3, maxRequests: 10, maxRealMs: 1_000 }

/** Counts requests at these virtual times; answers the first reason to end. */
function countAt(times: readonly number[], realNow = () => 0): string | undefined {
  const bounds = new RunBounds(limits, realNow)
  return times.map((atMs) => bounds.count(atMs, 'list pods')).find((reason) => reason !== undefined)
}

describe('a run has to end', () => {
  it('when it asks and asks while time stands still', () => {
    expect(countAt([5, 5, 5])).toBeUndefined()
    expect(countAt([5, 5, 5, 5])).toBe(
      'the operator goes round in circles: more than 3 requests at one instant, 0.005 s after the start, the last: list pods',
    )
    expect(countAt([5, 5, 5, 6, 6, 6])).toBeUndefined()
  })

  it('when it has asked too often', () => {
    expect(countAt([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])).toBeUndefined()
    expect(countAt([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])).toContain('more than 10 requests')
  })

  it('when it takes too much real time', () => {
    let realMs = 0
    const slowly = () => {
      realMs += 400
      return realMs
    }
    expect(countAt([1, 2], slowly)).toBeUndefined()
    expect(countAt([1, 2, 3], slowly)).toBe(
      'the run takes more than 1 s of real time; it came to 0.003 s after the start, the last: list pods',
    )
  })
})
