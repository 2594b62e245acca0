import { AsyncLocalStorage } from 'node:async_hooks'
import { SimulatedClock } from '@reeve/http/testing'
import { expect, it } from 'vitest'
import { InstanceClock } from './instance-clock.ts'

it('the clock of an instance runs timers in the asynchronous context of the code that set them', async () => {
  const world = new SimulatedClock()
  const clock = new InstanceClock(world)
  const context = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  context.run('of the operator', () => clock.schedule(1_000, () => seen.push(context.getStore())))
  await world.advance(1_000)
  expect(seen).toEqual(['of the operator'])
})
