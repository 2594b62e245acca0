/** Faults all over the life of an EdgeConnect that the operator creates in the tenant. */
import { Explorer, type OperatorUnderTest, type PatternReference, runScenario, type Scenario } from '@reeve/simulation'
import { expect, it } from 'vitest'
import { exploration } from '../../exploration/edgeconnect.ts'

// The undisturbed runs that all others are compared with take as long as each of them: the tests share them.
const explorer = new Explorer(exploration)

/** How the run of a point of a pattern ends. */
async function outcomeOf(pattern: PatternReference, index: number) {
  const { problems, tookEffect } = await explorer.run(pattern, index)
  return { pattern, index, tookEffect, problems }
}

const survived = (pattern: PatternReference, index: number) => ({ pattern, index, tookEffect: true, problems: [] })

it('the Dynatrace operator manages an EdgeConnect when nothing fails', { timeout: 120_000 }, async () => {
  const { problems } = await explorer.run('undisturbed', 0)
  expect(problems).toEqual([])
})

// `npm run explore -- --operator dynatrace-edgeconnect` tries all points.
it.each<PatternReference>(['crash-after-write', 'crash-around-call', 'failed-request'])(
  'the Dynatrace operator survives %s during the life of an EdgeConnect',
  { timeout: 120_000 },
  async (pattern) => {
    const shapes = (await explorer.points(pattern)).map(({ shape }) => shape)
    const isOther = (shape: (typeof shapes)[number]) => shape.coarse !== shapes[0]?.coarse
    for (const index of [0, shapes.findIndex(isOther)]) {
      expect(await outcomeOf(pattern, index)).toEqual(survived(pattern, index))
    }
  },
)

it('the EdgeConnect controller registers once while it cannot see that the Secret of the old EdgeConnect is deleted', {
  timeout: 120_000,
}, async () => {
  const points = await explorer.points('unseen-states')
  const index = points.findIndex(({ label }) =>
    /\(DELETED secrets \S+-client\) is lost with all that follows/.test(label),
  )
  expect(await outcomeOf('unseen-states', index)).toEqual(survived('unseen-states', index))
})

it('the EdgeConnect controller keeps the new registration when it restarts on a view of the old Secrets', {
  timeout: 120_000,
}, async () => {
  const points = await explorer.points('stale-view')
  const index = points.findIndex(({ label }) =>
    /^restarted at event \d+ \(ADDED secrets \S+-client\) on secrets as of event \d+ \(ADDED secrets \S+-client\)/.test(
      label,
    ),
  )
  expect(await outcomeOf('stale-view', index)).toEqual(survived('stale-view', index))
})

// Every other run has to agree with this one: nothing is left behind after any of them.
it('the EdgeConnect controller leaves nothing behind in the tenant but the client of the user', {
  timeout: 120_000,
}, async () => {
  // The exploration knows outside worlds by their interface only.
  const operator = exploration.operator as OperatorUnderTest
  const { baseline, problems } = await runScenario(operator, exploration.scenario as Scenario, { seed: 1 })
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
