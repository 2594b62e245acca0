import { expect, it } from 'vitest'
import { type OperatorUnderTest, runScenario, type Scenario } from '../src/index.ts'
import { noteScenario } from './catalogue/notes.ts'
import { rendered } from './catalogue/on-the-runtime.ts'
import { shardedNotes } from './catalogue/sharded.ts'
import { boxScenario, correctOperator } from './support/boxes.ts'

/** Whether the rest at the end has begun 15 s after a fault that lasts as long as it says. */
async function restsDuringFault(lastsMs: number): Promise<boolean | undefined> {
  const { baseline } = await runScenario(correctOperator, boxScenario, { seed: 1 })
  let isResting: boolean | undefined
  const { problems } = await runScenario(correctOperator, boxScenario, {
    seed: 1,
    expected: baseline,
    disturb: ({ world, fault }) => ({
      onStepEnd: async (step) => {
        if (step !== boxScenario.steps.length - 1) return
        fault('something is slow', lastsMs)
        world.clock.schedule(15_000, () => {
          isResting = world.log.isResting
        })
      },
    }),
  })
  expect(problems).toEqual([])
  return isResting
}

it('the rest that ends a run begins only after the fault is over', async () => {
  expect(await restsDuringFault(0)).toBe(true)
  expect(await restsDuringFault(20_000)).toBe(false)
})

it('a look after each step takes no time: up to the fault the run is the undisturbed one', async () => {
  const { baseline, world } = await runScenario(correctOperator, boxScenario, { seed: 1 })
  const options = { seed: 1, expected: baseline, disturb: () => ({ onStepEnd: async () => undefined }) }
  const looked = await runScenario(correctOperator, boxScenario, options)
  expect(looked.world.log.trace.hash()).toBe(world.log.trace.hash())
})

it('the rest of an operator that renews a lease is shorter, also when the lease is its own', async () => {
  const minutesOf = async (operator: OperatorUnderTest, election: boolean) => {
    const scenario: Scenario = { ...noteScenario, steps: noteScenario.steps.slice(0, 1) }
    const { world, problems } = await runScenario(operator, scenario, { seed: 1, election })
    expect(problems).toEqual([])
    return Math.round(world.elapsedMs / 60_000)
  }
  expect(await minutesOf(rendered, false)).toBe(11)
  expect(await minutesOf(rendered, true)).toBe(3)
  expect(await minutesOf(shardedNotes(1), false)).toBe(3)
})
