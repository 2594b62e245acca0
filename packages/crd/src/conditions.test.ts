import { describe, expect, it } from 'vitest'
import { conditions } from './conditions.ts'
import { toStructural } from './to-structural.ts'
import { validate } from './validate.ts'

const READY = { type: 'Ready', status: 'True', reason: 'PodsReady', lastTransitionTime: '2025-01-01T00:00:00Z' }
const problems = (value: unknown) => validate(toStructural(conditions()), value).map(({ field }) => field)

describe('the conditions of a status', () => {
  it('accept what the runtime writes', () => {
    expect(problems([READY, { ...READY, type: 'Degraded', message: '', observedGeneration: 3 }])).toEqual([])
  })

  it('reject an invalid status, and a condition without a reason', () => {
    const { reason: _, ...unexplained } = READY
    expect(problems([{ ...READY, status: 'Maybe' }])).toEqual([expect.stringContaining('status')])
    expect(problems([unexplained])).toEqual([expect.stringContaining('reason')])
  })

  it('have at most one entry per type', () => {
    expect(problems([READY, READY])).toHaveLength(1)
  })
})
