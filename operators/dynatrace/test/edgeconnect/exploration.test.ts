import {
  divergenceText,
  explore,
  type OperatorUnderTest,
  type PatternId,
  runScenario,
  type Scenario,
} from '@reeve/simulation'
import { expect, it } from 'vitest'
import { exploration } from '../../src/edgeconnect.exploration.ts'

// The exploration knows outside worlds by their interface only.
const operator = exploration.operator as OperatorUnderTest
const scenario = exploration.scenario as Scenario

/** Spread evenly; `npm run explore -- --operator dynatrace-edgeconnect` tries them all. */
const PATTERNS: readonly PatternId[] = ['T1', 'T2', 'T4', 'T9', 'T11']

it('the Dynatrace operator survives faults all over the life of an EdgeConnect', { timeout: 240_000 }, async () => {
  const report = await explore(operator, scenario, { patterns: PATTERNS, maxPoints: 2 })
  expect(report.divergences.map((divergence) => divergenceText(divergence, operator.name))).toEqual([])
  expect(report.patterns.map(({ explored, missed }) => explored - missed)).toEqual(PATTERNS.map(() => 2))
})

// Every other run has to agree with this one: nothing is left behind after any of them.
it('leaves nothing behind in the environment but the client of the user', { timeout: 120_000 }, async () => {
  const { baseline, problems } = await runScenario(operator, scenario, { seed: 1 })
  expect(problems).toEqual([])
  const [made, left] = [baseline.snapshots[1], baseline.snapshots.at(-1)].map((snapshot) =>
    [...(snapshot ?? [])].filter(([id]) => id.startsWith('outside ')),
  )
  expect(made?.map(([id]) => id)).toContain('outside abc12345 EdgeConnect office')
  expect(left).toEqual([['outside abc12345 OAuth clients', { count: 1 }]])
})
