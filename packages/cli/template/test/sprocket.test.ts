/** The operator on an embedded cluster in the same process, on a simulated clock: an hour takes milliseconds. */
import { deepStrictEqual, strictEqual } from 'node:assert'
import { afterEach, beforeEach, test } from 'node:test'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { ConfigMaps, CustomResourceDefinitions, createClient, type KubeClient } from '@reeve/kube'
import { SimulatedClock } from '@reeve/runtime/testing'
import { operator } from '../src/operator.ts'
import { SprocketResource } from '../src/sprocket.ts'

const key = { namespace: 'default', name: 'first' }
const sprocket = { apiVersion: 'template.example.com/v1', kind: 'Sprocket', metadata: key } as const

let clock: SimulatedClock
let cluster: EmbeddedCluster
let client: KubeClient
let stop: AbortController
let running: Promise<void>

beforeEach(async () => {
  clock = new SimulatedClock()
  cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', clock })
  client = createClient({
    clock,
    transport: { send: (request) => cluster.handle(request), close: async () => undefined },
  })
  for (const crd of operator.crds()) await client.create(CustomResourceDefinitions, crd)
  stop = new AbortController()
  running = operator.create({ client, clock }).manager.run(stop.signal)
})
afterEach(async () => {
  stop.abort()
  await clock.runToCompletion(running)
  await cluster.stop()
})

const messages = async () => {
  const { items } = await client.listAll(ConfigMaps, { labelSelector: `app.kubernetes.io/managed-by=${operator.name}` })
  return items.map(({ metadata, data }) => [metadata.name, data?.message])
}

test('a Sprocket becomes a ConfigMap, even if the API server fails at first', async () => {
  cluster.faults.inject({ verb: 'create', resource: 'configmaps' }, { kind: 'status', code: 500 }, { times: 3 })
  await client.create(SprocketResource, { ...sprocket, spec: { message: 'hello', isPublic: true } })
  await clock.advance(60_000)
  deepStrictEqual(await messages(), [['first', 'hello']])
  const { status } = await client.get(SprocketResource, key)
  strictEqual(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
})

test('the ConfigMap of a Sprocket that is not public is deleted', async () => {
  await client.create(SprocketResource, { ...sprocket, spec: { message: 'hello', isPublic: true } })
  await clock.advance(1_000)
  await client.patch(SprocketResource, key, { type: 'merge', patch: { spec: { isPublic: false } } })
  await clock.advance(1_000)
  deepStrictEqual(await messages(), [])
})

test('nothing is written while nothing changes', async () => {
  await client.create(SprocketResource, { ...sprocket, spec: { message: 'hello', isPublic: true } })
  await clock.advance(60_000)
  const { writes } = cluster.requests
  await clock.advance(3_600_000)
  strictEqual(cluster.requests.writes, writes)
})
