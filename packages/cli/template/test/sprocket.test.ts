/** The operator on a cluster in the same process, in simulated time: an hour takes milliseconds. */
import { strictEqual } from 'node:assert'
import { afterEach, beforeEach, test } from 'node:test'
import { ConfigMaps } from '@reeve/kube'
import { runInMemory, type World } from '@reeve/testing'
import { operator } from '../src/operator.ts'
import { SprocketResource } from '../src/sprocket.ts'

let world: World

beforeEach(async () => {
  world = await runInMemory(operator)
})
afterEach(() => world.stop())

const sprocket = { metadata: { name: 'first' }, spec: { message: 'hello' } }

test('a Sprocket becomes a ConfigMap, even if the API server fails at first', async () => {
  world.fail({ verb: 'create', resource: ConfigMaps, times: 3 })
  await world.apply(SprocketResource, sprocket)
  await world.settle()
  strictEqual((await world.get(ConfigMaps, 'first')).data?.message, 'hello')
  const { status } = await world.get(SprocketResource, 'first')
  strictEqual(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
})

test('the ConfigMap of a Sprocket that is not public is deleted', async () => {
  await world.apply(SprocketResource, sprocket)
  await world.settle()
  await world.patch(SprocketResource, 'first', { spec: { isPublic: false } })
  await world.settle()
  strictEqual(await world.find(ConfigMaps, 'first'), undefined)
})

test('nothing is written while nothing changes', async () => {
  await world.apply(SprocketResource, sprocket)
  await world.settle()
  strictEqual(await world.writesDuring('1h'), 0)
})
