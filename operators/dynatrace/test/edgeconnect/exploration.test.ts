import {
  divergenceText,
  explore,
  type OperatorUnderTest,
  type PatternReference,
  runScenario,
  type Scenario,
} from '@reeve/simulation'
import { expect, it } from 'vitest'
import { exploration } from '../../exploration/edgeconnect.ts'

// The exploration knows outside worlds by their interface only.
const operator = exploration.operator as OperatorUnderTest
const scenario = exploration.scenario as Scenario

/** Spread evenly; `npm run explore -- --operator dynatrace-edgeconnect` tries them all. */
const PATTERNS: readonly PatternReference[] = ['crash-after-write', 'crash-around-call', 'failed-request']

it('the Dynatrace operator survives faults all over the life of an EdgeConnect', { timeout: 240_000 }, async () => {
  const report = await explore(operator, scenario, { patterns: PATTERNS, maxPoints: 2 })
  expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name))).toEqual([])
  expect(report.patterns.map(({ explored, missed }) => explored - missed)).toEqual(PATTERNS.map(() => 2))
})

// Every other run has to agree with this one: nothing is left behind after any of them.
it('leaves nothing behind in the tenant but the client of the user', { timeout: 120_000 }, async () => {
  const { baseline, problems } = await runScenario(operator, scenario, { seed: 1 })
  expect(problems).toEqual([])
  const [made, withoutAutomation, left] = [0, 1, -1].map((step) =>
    [...(baseline.snapshots.at(step)?.entries() ?? [])].filter(([id]) => id.startsWith('outside ')),
  )
  const idsOf = (entries: typeof made) => entries?.map(([id]) => id.replace('outside abc12345 ', '')).sort()
  const connection = 'app:dynatrace.kubernetes.connector:connection'
  expect(idsOf(made)).toEqual(['EdgeConnect office', 'OAuth clients', connection])
  expect(idsOf(withoutAutomation)).toEqual(['EdgeConnect office', 'OAuth clients'])
  expect(left).toEqual([['outside abc12345 OAuth clients', { count: 1 }]])
})
