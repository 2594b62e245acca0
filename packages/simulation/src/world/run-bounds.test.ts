import { describe, expect, it } from 'vitest'
import { RunBounds } from './run-bounds.ts'

const limits = { maxRequestsPerMinute: 3, maxRequests: 10, maxRealMs: 1_000 }

const minutes = (count: number) => Array.from({ length: count }, (_, index) => index * 60_000)

/** Counts requests at these virtual times; returns the first reason to end. */
function countAt(times: readonly number[], realNow = () => 0, speed = 1): string | undefined {
  const bounds = new RunBounds(limits, realNow, speed)
  return times.map((atMs) => bounds.count(atMs, () => 'list pods')).find((reason) => reason !== undefined)
}

describe('a run has to end', () => {
  it('when it sends requests in a hot loop', () => {
    expect(countAt([5, 6, 7])).toBeUndefined()
    expect(countAt([5, 6, 7, 8])).toBe(
      'hot loop: more than 3 requests within a minute, 0.008 s after the start, the last: list pods',
    )
    expect(countAt([5, 6, 7, 60_001, 60_002, 60_003])).toBeUndefined()
  })

  it('and the reason names times on the clock of the operator', () => {
    expect(countAt([5, 6, 7, 6_000], () => 0, 6)).toBe(
      'hot loop: more than 3 requests within 10 s, 1.000 s after the start, the last: list pods',
    )
  })

  it('when it sends too many requests in all', () => {
    expect(countAt(minutes(10))).toBeUndefined()
    expect(countAt(minutes(11))).toContain('more than 10 requests')
  })

  it('when it takes too much real time', () => {
    let realMs = 0
    const slowly = () => {
      realMs += 400
      return realMs
    }
    expect(countAt([1, 2], slowly)).toBeUndefined()
    expect(countAt([1, 2, 3], slowly)).toBe(
      'the run takes more than 1 s of real time; it reached 0.003 s after the start, the last: list pods',
    )
  })
})
