import { describe, expect, it } from 'vitest'
import type { LastFailure } from '../api/collector.ts'
import type { Decision } from '../decision/decide.ts'
import type { Ingredients } from '../decision/revision-marks.ts'
import { knownFailure, remembered, rollbackCause } from './known-failures.ts'

const ASKED_FOR: Ingredients = { chartDigest: 'sha256:chart', valuesDigest: 'sha256:values' }
const OTHER: Ingredients = { chartDigest: 'sha256:chart', valuesDigest: 'sha256:others' }
const ROLLED_BACK: Decision = { action: 'nothing', state: 'rolled-back' }
const CURRENT: Decision = { action: 'nothing', state: 'current' }
const SUSPENDED: Decision = { action: 'nothing', state: 'suspended' }

const failed = (reason: string, tried: Partial<Ingredients> = {}): LastFailure => ({
  reason,
  message: 'no',
  time: '2030-01-01T00:00:00Z',
  attempts: 1,
  ...tried,
})
const stuck = failed('WorkloadsStuck', ASKED_FOR)
const away = failed('HelmChartUnreachable')

describe('the failure of the desired chart and values', () => {
  it('is the cause of the rollback, when the last failure is about something else', () => {
    expect(knownFailure({ lastFailure: away, rolledBack: stuck }, ASKED_FOR)).toBe(stuck)
    expect(knownFailure({ rolledBack: stuck }, ASKED_FOR)).toBe(stuck)
  })

  it('is the last failure in all other cases', () => {
    const again = failed('HelmTimeout', ASKED_FOR)
    expect(knownFailure({ lastFailure: again, rolledBack: stuck }, ASKED_FOR)).toBe(again)
    expect(knownFailure({ lastFailure: away, rolledBack: stuck }, OTHER)).toBe(away)
    expect(knownFailure({ lastFailure: away, rolledBack: stuck }, undefined)).toBe(away)
    expect(knownFailure({ lastFailure: away }, ASKED_FOR)).toBe(away)
    expect(knownFailure(undefined, ASKED_FOR)).toBeUndefined()
  })
})

describe('why a release was rolled back', () => {
  it('is recorded once it is rolled back, and not before', () => {
    expect(rollbackCause(undefined, stuck, { decision: ROLLED_BACK, ingredients: ASKED_FOR })).toBe(stuck)
    const wait: Decision = { action: 'wait', why: 'backoff', retryAfterMs: 5_000 }
    expect(rollbackCause(undefined, stuck, { decision: wait, ingredients: ASKED_FOR })).toBeUndefined()
  })

  it('outlives failures that have nothing to do with it', () => {
    expect(rollbackCause(stuck, away, {})).toBe(stuck)
    expect(rollbackCause(stuck, away, { decision: ROLLED_BACK, ingredients: ASKED_FOR })).toBe(stuck)
    expect(rollbackCause(stuck, undefined, { decision: SUSPENDED, ingredients: ASKED_FOR })).toBe(stuck)
  })

  it('is dropped when chart or values change, or when they are deployed', () => {
    expect(rollbackCause(stuck, undefined, { decision: ROLLED_BACK, ingredients: OTHER })).toBeUndefined()
    expect(rollbackCause(stuck, undefined, { decision: CURRENT, ingredients: ASKED_FOR })).toBeUndefined()
  })
})

describe('a failure', () => {
  it('is kept until the failed step succeeds', () => {
    expect(remembered(stuck, { decision: ROLLED_BACK, ingredients: ASKED_FOR })).toBe(stuck)
    expect(remembered(stuck, { decision: CURRENT, ingredients: ASKED_FOR })).toBeUndefined()
    expect(remembered(away, { decision: ROLLED_BACK, ingredients: ASKED_FOR })).toBeUndefined()
    expect(remembered(away, {})).toBe(away)
  })

  it('about drift stays as long as the drift', () => {
    const drifted: Decision = { action: 'nothing', state: 'drifted' }
    const persists = failed('DriftPersists', ASKED_FOR)
    expect(remembered(persists, { decision: drifted, ingredients: ASKED_FOR })).toBe(persists)
    expect(remembered(stuck, { decision: drifted, ingredients: ASKED_FOR })).toBeUndefined()
  })
})
