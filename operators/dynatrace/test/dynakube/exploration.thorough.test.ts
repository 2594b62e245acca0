import {
  divergenceText,
  explore,
  type OperatorUnderTest,
  type PatternReference,
  type Scenario,
} from '@reeve/simulation'
import { expect, it } from 'vitest'
import { exploration } from '../../exploration/dynakube.ts'

// The exploration knows outside worlds by their interface only.
const operator = exploration.operator as OperatorUnderTest
const scenario = exploration.scenario as Scenario

/** Two points of each, spread evenly; `npm run explore -- --operator dynatrace` tries them all. */
const PATTERNS: readonly PatternReference[] = [
  'crash-after-write',
  'crash-around-call',
  'late-own-write',
  'relist',
  'failed-request',
  'lost-leadership',
  'manual-changes',
]

it('the Dynatrace operator survives faults all over the life of a DynaKube', { timeout: 240_000 }, async () => {
  const report = await explore(operator, scenario, { patterns: PATTERNS, samples: 2, maxPoints: 2 })
  expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name))).toEqual([])
  expect(report.patterns.map(({ explored, missed }) => explored - missed)).toEqual(PATTERNS.map(() => 2))
})
