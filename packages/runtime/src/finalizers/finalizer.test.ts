import { SimulatedClock } from '@reeve/http/testing'
import { type ConfigMap, ConfigMaps, type ObjectMeta, type Stored } from '@reeve/kube'
import { expect, test } from 'vitest'
import { MemoryCluster } from '../../test/support/memory-cluster.ts'
import { addFinalizer, FinalizerConflictError, removeFinalizer } from './finalizer.ts'
import { withFinalizer } from './with-finalizer.ts'

const key = { namespace: 'shop', name: 'web' }
const MINE = 'example.com/cleanup'

async function setUp(metadata: Partial<ObjectMeta> = {}) {
  const cluster = new MemoryCluster(new SimulatedClock())
  const admin = cluster.client('admin')
  const object = await admin.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...key, ...metadata },
  })
  const live = () => cluster.peek(ConfigMaps, key)
  const edit = (patch: Record<string, unknown>) => admin.patch(ConfigMaps, key, { type: 'merge', patch })
  return { cluster, admin, object, live, edit, client: cluster.client('operator') }
}

const deleting = { deletionTimestamp: '2030-01-01T00:00:00Z' }

test('adding puts the finalizer after existing ones, and only once', async () => {
  const { client, object, live, cluster } = await setUp({ finalizers: ['other.com/x'] })
  const protectedObject = await addFinalizer(client, ConfigMaps, object, MINE)
  expect(live()?.metadata.finalizers).toEqual(['other.com/x', MINE])
  const before = cluster.writes.length
  expect(await addFinalizer(client, ConfigMaps, protectedObject, MINE)).toBe(protectedObject)
  expect(cluster.writes.length).toBe(before)
})

test('adding from an old view does not remove finalizers that were added meanwhile', async () => {
  const { client, object, live, edit } = await setUp()
  await edit({ metadata: { finalizers: ['other.com/x'] } })
  await addFinalizer(client, ConfigMaps, object, MINE)
  expect(live()?.metadata.finalizers).toEqual(['other.com/x', MINE])
})

test('adding from an old view does not set the finalizer twice', async () => {
  const { client, object, live } = await setUp()
  await addFinalizer(client, ConfigMaps, object, MINE)
  await addFinalizer(client, ConfigMaps, object, MINE)
  expect(live()?.metadata.finalizers).toEqual([MINE])
})

test('adding to an object that is being deleted, or was replaced, is rejected', async () => {
  const { client, object, edit, cluster, admin } = await setUp({ finalizers: ['other.com/x'] })
  await edit({ metadata: deleting })
  await expect(addFinalizer(client, ConfigMaps, object, MINE)).rejects.toMatchObject({ code: 'FINALIZER_TOO_LATE' })
  cluster.remove(ConfigMaps, key)
  await admin.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key })
  await expect(addFinalizer(client, ConfigMaps, object, MINE)).rejects.toMatchObject({ code: 'FINALIZER_TOO_LATE' })
})

test('removing takes exactly the one entry, wherever it has moved to', async () => {
  const { client, object, live, edit } = await setUp({ finalizers: ['a.com/x', MINE, 'b.com/y'] })
  await edit({ metadata: { finalizers: [MINE, 'b.com/y'] } })
  await removeFinalizer(client, ConfigMaps, object, MINE)
  expect(live()?.metadata.finalizers).toEqual(['b.com/y'])
})

test('removing does not mind changes elsewhere in the object', async () => {
  const { client, object, live, edit, cluster } = await setUp({ finalizers: [MINE] })
  await edit({ data: { changed: 'yes' } })
  const before = cluster.writes.length
  await removeFinalizer(client, ConfigMaps, object, MINE)
  expect(cluster.writes.length - before).toBe(1)
  expect(live()).toMatchObject({ data: { changed: 'yes' } })
})

test('removing the last finalizer of a deleted object deletes it', async () => {
  const { client, object, live, edit } = await setUp({ finalizers: [MINE] })
  await edit({ metadata: deleting })
  await removeFinalizer(client, ConfigMaps, object, MINE)
  expect(live()).toBeUndefined()
  expect(await removeFinalizer(client, ConfigMaps, object, MINE)).toBeUndefined()
})

test('removing never touches a new object of the same name', async () => {
  const { client, object, live, cluster, admin } = await setUp({ finalizers: [MINE] })
  cluster.remove(ConfigMaps, key)
  await admin.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, finalizers: [MINE] } })
  expect(await removeFinalizer(client, ConfigMaps, object, MINE)).toBeUndefined()
  expect(live()?.metadata.finalizers).toEqual([MINE])
})

test('an object that changes before every attempt ends in a conflict, not in a loop', async () => {
  const { object, cluster, edit } = await setUp()
  let edits = 0
  const client = cluster.client('operator', {
    before: async ({ verb }) => {
      if (verb === 'patch') await edit({ metadata: { annotations: { edit: String(edits++) } } })
    },
  })
  await expect(addFinalizer(client, ConfigMaps, object, MINE)).rejects.toThrow(FinalizerConflictError)
  expect(edits).toBe(3)
})

test('a live object is reconciled only after the finalizer is on the server', async () => {
  const { client, object, live } = await setUp()
  const seen: (readonly string[] | undefined)[] = []
  const result = await withFinalizer(object, {
    client,
    resource: ConfigMaps,
    finalizer: MINE,
    reconcile: async (current) => {
      seen.push(current.metadata.finalizers, live()?.metadata.finalizers)
      return 'reconciled'
    },
    cleanup: async () => 'done',
  })
  expect(result).toBe('reconciled')
  expect(seen).toEqual([[MINE], [MINE]])
})

/** A clean-up with the given result that counts its runs. */
async function deleteWith(cleanup: () => Promise<'done' | { requeueAfterMs: number }>, finalizers = [MINE]) {
  const { client, live, edit } = await setUp({ finalizers })
  const object = (await edit({ metadata: deleting })) as Stored<ConfigMap>
  const reconcile = async () => {
    throw new Error('must not be called')
  }
  const run = () => withFinalizer(object, { client, resource: ConfigMaps, finalizer: MINE, reconcile, cleanup })
  return { run, live }
}

test('an object being deleted is cleaned up and then deleted', async () => {
  const { run, live } = await deleteWith(async () => 'done')
  expect(await run()).toBeUndefined()
  expect(live()).toBeUndefined()
})

test('an unfinished clean-up keeps the finalizer and passes its result on', async () => {
  const { run, live } = await deleteWith(async () => ({ requeueAfterMs: 5_000 }))
  expect(await run()).toEqual({ requeueAfterMs: 5_000 })
  expect(live()?.metadata.finalizers).toEqual([MINE])
})

test('a failing clean-up keeps the finalizer', async () => {
  const { run, live } = await deleteWith(async () => {
    throw new Error('the DNS server is down')
  })
  await expect(run()).rejects.toThrow('the DNS server is down')
  expect(live()?.metadata.finalizers).toEqual([MINE])
})

test('an object being deleted without our finalizer is not changed', async () => {
  const { run, live } = await deleteWith(async () => {
    throw new Error('must not be called')
  }, ['other.com/x'])
  expect(await run()).toBeUndefined()
  expect(live()?.metadata.finalizers).toEqual(['other.com/x'])
})

test('an old view of a deleted object does not clean up after the one that has its name now', async () => {
  const { client, admin, cluster, object } = await setUp({ finalizers: [MINE], ...deleting })
  cluster.remove(ConfigMaps, key)
  const cleaned: string[] = []
  const options = {
    client,
    resource: ConfigMaps,
    finalizer: MINE,
    reconcile: async () => 'reconciled',
    cleanup: async ({ metadata: { name } }: Stored<ConfigMap>) => {
      cleaned.push(name)
      return 'done' as const
    },
  }
  await withFinalizer(object, options)
  await admin.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, finalizers: [MINE] } })
  await withFinalizer(object, options)
  expect(cleaned).toEqual([])
})
