import {
  divergenceText,
  explore,
  type OperatorUnderTest,
  type PatternReference,
  type Scenario,
} from '@reeve/simulation'
import { expect, it } from 'vitest'
import { exploration } from '../../exploration/injection.ts'

// The exploration knows outside worlds by their interface only.
const operator = exploration.operator as OperatorUnderTest
const scenario = exploration.scenario as Scenario

/** Two points of each; `npm run explore -- --operator dynatrace-injection` tries them all. */
const PATTERNS: readonly PatternReference[] = [
  'undisturbed',
  'crash-after-write',
  'stale-view',
  'relist',
  'failed-request',
  'manual-changes',
]

it('pods are admitted, and namespaces and their Secrets are created and deleted, whatever happens to the operator', async () => {
  const report = await explore(operator, scenario, { patterns: PATTERNS, budget: 2, maxPoints: 2 })
  expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name))).toEqual([])
})
