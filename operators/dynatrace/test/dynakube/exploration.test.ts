import { divergenceText, explore, type OperatorUnderTest, type PatternId, type Scenario } from '@reeve/simulation'
import { describe, expect, it } from 'vitest'
import { exploration } from '../../src/exploration.ts'

// The exploration knows outside worlds by their interface only.
const operator = exploration.operator as OperatorUnderTest
const scenario = exploration.scenario as Scenario

/** Two points of each, spread evenly; `npm run explore -- --operator dynatrace` tries them all. */
const PATTERNS: readonly PatternId[] = ['T1', 'T2', 'T4', 'T6', 'T9', 'T10', 'T11']

describe('the Dynatrace operator survives', () => {
  it.each(PATTERNS)('%s', { timeout: 120_000 }, async (pattern) => {
    const report = await explore(operator, scenario, { patterns: [pattern], budget: 2, maxPoints: 2 })
    expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name))).toEqual([])
    expect(report.patterns[0]).toMatchObject({ explored: 2, missed: 0 })
  })
})
