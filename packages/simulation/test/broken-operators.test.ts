import { describe, expect, it } from 'vitest'
import { explore, type OperatorUnderTest, type PatternId } from '../src/index.ts'
import { boxScenario, correctOperator } from './support/boxes.ts'
import {
  assumesOwnWriteIsVisible,
  deletesWithoutPreconditions,
  forgetsRemovedKey,
  patchesForNothing,
  removesFinalizerTooEarly,
} from './support/broken-boxes.ts'

const broken: readonly [OperatorUnderTest, PatternId, RegExp][] = [
  [deletesWithoutPreconditions, 'T3', /deleted configmaps default\/gift/],
  [assumesOwnWriteIsVisible, 'T4', /state differs|created configmaps/],
  [forgetsRemovedKey, 'T12', /state differs/],
  [patchesForNothing, 'T13', /writes in .* hours of rest/],
  [removesFinalizerTooEarly, 'T1', /state differs/],
]

describe('a broken operator is caught', () => {
  it.each(broken)('$name', { timeout: 120_000 }, async (operator, pattern, message) => {
    const { divergences } = await explore(operator, boxScenario, { patterns: [pattern], budget: 60 })
    expect(divergences.map((divergence) => divergence.message).join('\n')).toMatch(message)
    const [first] = divergences
    expect(first?.pattern).toBe(pattern)
  })
})

describe('the same operator without the bugs', () => {
  it.each(['T1', 'T2', 'T3', 'T4', 'T12', 'T13'] as const)('passes %s', { timeout: 120_000 }, async (pattern) => {
    const { divergences, runs } = await explore(correctOperator, boxScenario, { patterns: [pattern], budget: 8 })
    expect(divergences).toEqual([])
    expect(runs).toBeGreaterThan(0)
  })
})
