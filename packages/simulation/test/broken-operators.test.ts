import { describe, expect, it } from 'vitest'
import { type Divergence, divergenceText, explore, type OperatorUnderTest, type PatternId } from '../src/index.ts'
import { boxScenario, correctOperator } from './support/boxes.ts'
import {
  assumesOwnWriteIsVisible,
  deletesWithoutPreconditions,
  drawsNames,
  forgetsRemovedKey,
  makesForTheDead,
  patchesForNothing,
  removesFinalizerTooEarly,
  reportsEveryLook,
} from './support/broken-boxes.ts'

/** Each with the pattern that is there for its bug, and with one that must not be bothered by it. */
const broken: readonly [OperatorUnderTest, PatternId, RegExp, PatternId?][] = [
  [deletesWithoutPreconditions, 'T3', /deleted configmaps default\/gift/, 'T6'],
  [assumesOwnWriteIsVisible, 'T4', /state differs|created configmaps/, 'T13'],
  [forgetsRemovedKey, 'T12', /state differs/, 'T13'],
  [makesForTheDead, 'T5', /goes round in circles/, 'T1'],
  [patchesForNothing, 'T13', /writes in .* hours of rest/],
  [reportsEveryLook, 'T13', /still writes|writes in .* hours of rest/],
  [drawsNames, 'T1', /state differs/, 'T13'],
  [removesFinalizerTooEarly, 'T1', /state differs/, 'T6'],
]

const textsOf = (divergences: readonly Divergence[]) =>
  divergences.map((divergence) => divergenceText(divergence, 'boxes').slice(0, 2_000))

describe('a broken operator is caught', () => {
  it.each(broken)('$name by $1', { timeout: 120_000 }, async (operator, pattern, message) => {
    const { divergences } = await explore(operator, boxScenario, { patterns: [pattern], budget: 60, stopAfter: 1 })
    expect(divergences.map((divergence) => divergence.message).join('\n')).toMatch(message)
    expect(divergences[0]?.pattern).toBe(pattern)
  })

  const withInnocent = broken.flatMap(([operator, , , innocent]) => (innocent ? [[operator, innocent] as const] : []))
  it.each(withInnocent)('and $name not by $1', { timeout: 120_000 }, async (operator, pattern) => {
    const { divergences } = await explore(operator, boxScenario, { patterns: [pattern], maxPoints: 1 })
    expect(textsOf(divergences)).toEqual([])
  })

  it('and the smallest walk that shows a forgotten key is found', { timeout: 120_000 }, async () => {
    const options = { patterns: ['T12'], stopAfter: 1 } as const
    const { divergences } = await explore(forgetsRemovedKey, boxScenario, options)
    expect(divergences[0]?.message).toMatch(
      /the smallest walk that shows it: \{"text":"full","items":\{"[a-z]+":"\d"\}\}/,
    )
  })
})

describe('the same operator without the bugs', () => {
  const patterns = ['T1', 'T2', 'T3', 'T4', 'T5', 'T7', 'T8', 'T9', 'T10', 'T12', 'T13', 'T14'] as const
  it.each(patterns)('passes %s', { timeout: 120_000 }, async (pattern) => {
    const { divergences, runs } = await explore(correctOperator, boxScenario, {
      patterns: [pattern],
      budget: 6,
      // Of T13 the one without a lease, which takes a moment instead of seconds.
      maxPoints: pattern === 'T13' ? 1 : 4,
    })
    expect(textsOf(divergences)).toEqual([])
    expect(runs).toBeGreaterThan(0)
  })
})
