import { type ConfigMap, ConfigMaps, isNotFound, type Stored } from '@reeve/kube'
import { addFinalizer, removeFinalizer, withFinalizer } from '@reeve/runtime/finalizers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

let world: TestCluster
beforeAll(async () => {
  world = await openTestCluster()
})
afterAll(() => world.close())

const MINE = 'example.com/cleanup'

function create(name: string, finalizers: string[] = []): Promise<Stored<ConfigMap>> {
  const metadata = { namespace: world.namespace, name, finalizers }
  return world.client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
}

const keyOf = (name: string) => ({ namespace: world.namespace, name })

test('from an old view a finalizer is added once, and next to those of others', async () => {
  const { client } = world
  const old = await create('add')
  await client.patch(ConfigMaps, keyOf('add'), { type: 'merge', patch: { metadata: { finalizers: ['other.com/x'] } } })
  await addFinalizer(client, ConfigMaps, old, MINE)
  const live = await addFinalizer(client, ConfigMaps, old, MINE)
  expect(live.metadata.finalizers).toEqual(['other.com/x', MINE])
  await removeFinalizer(client, ConfigMaps, old, 'other.com/x')
  const bare = await removeFinalizer(client, ConfigMaps, old, MINE)
  expect(bare?.metadata.finalizers).toBeUndefined()
})

test('an object is deleted only after its clean-up is done', async () => {
  const { client } = world
  const created = await create('life')
  let isClean = false
  const reconcile = (object: Stored<ConfigMap>) =>
    withFinalizer(object, {
      client,
      resource: ConfigMaps,
      finalizer: MINE,
      reconcile: async () => 'reconciled',
      cleanup: async () => (isClean ? 'done' : 'not yet'),
    })
  expect(await reconcile(created)).toBe('reconciled')
  await client.delete(ConfigMaps, keyOf('life'))
  const deleting = await client.get(ConfigMaps, keyOf('life'))
  expect(await reconcile(deleting)).toBe('not yet')
  isClean = true
  expect(await reconcile(deleting)).toBeUndefined()
  const failure = await client.get(ConfigMaps, keyOf('life')).catch((error: unknown) => error)
  expect(isNotFound(failure)).toBe(true)
})

test('a finalizer comes too late for an object that is being deleted', async () => {
  const old = await create('late', ['other.com/x'])
  await world.client.delete(ConfigMaps, keyOf('late'))
  const late = addFinalizer(world.client, ConfigMaps, old, MINE)
  await expect(late).rejects.toMatchObject({ code: 'FINALIZER_TOO_LATE' })
  await removeFinalizer(world.client, ConfigMaps, old, 'other.com/x')
})
