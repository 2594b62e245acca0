import { expect, it } from 'vitest'
import { createWorld, Explorer } from '../src/index.ts'
import { Boxes, boxScenario, correctOperator } from './support/boxes.ts'

const life = async (seed: number) => {
  const world = await createWorld({ seed })
  await world.install(correctOperator)
  world.start(correctOperator, { election: true })
  await world.user.put({
    apiVersion: 'example.com/v1',
    kind: 'Box',
    metadata: { name: 'gift', namespace: 'default' },
    spec: { text: 'hello' },
  })
  await world.clock.advance(60_000)
  const { metadata } = await world.user.client.get(Boxes, { namespace: 'default', name: 'gift' })
  await world.close()
  return { hash: world.log.trace.hash(), uid: metadata.uid, length: world.log.trace.entries.length }
}

it('the same seed gives the same world to the millisecond, another seed another one', async () => {
  const first = await life(7)
  expect(first.length).toBeGreaterThan(30)
  expect(await life(7)).toEqual(first)
  expect((await life(8)).uid).not.toBe(first.uid)
})

it('a point replays exactly in a new explorer', async () => {
  const hashOf = async () =>
    (await new Explorer({ operator: correctOperator, scenario: boxScenario }).run('failed-request', 11)).traceHash
  expect(await hashOf()).toBe(await hashOf())
})
