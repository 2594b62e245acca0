import {
  divergenceText,
  Explorer,
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
  const report = await explore(operator, scenario, { patterns: PATTERNS, samples: 2, maxPoints: 2 })
  expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name))).toEqual([])
})

/** Points that once showed a bug, by their labels. */
const KNOWN: readonly (readonly [string, PatternReference, string])[] = [
  ['restores a copied Secret that someone deletes', 'manual-changes', 'deletes secrets shop/dynatrace-bootstrapper'],
  [
    'keeps copies in namespaces that it does not see yet',
    'stale-view',
    '(ADDED namespaces market) on namespaces as of',
  ],
  ['keeps labels of others on copies', 'foreign-writes', 'labels and annotations of secrets market/'],
]

it.each(KNOWN)('the operator %s', async (_, pattern, label) => {
  const explorer = new Explorer({ operator, scenario })
  const points = (await explorer.points(pattern)).map((point, index) => ({ ...point, index }))
  const chosen = points.filter((point) => point.label.includes(label)).slice(0, 2)
  expect(chosen).not.toEqual([])
  for (const { index } of chosen) expect((await explorer.run(pattern, index)).problems).toEqual([])
})
