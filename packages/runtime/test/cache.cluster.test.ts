import { type ConfigMap, ConfigMaps, type KubeObject, type Resource, ServiceAccounts, Services } from '@reeve/kube'
import { Cache, type Informer } from '@reeve/runtime/cache'
import { Controller } from '@reeve/runtime/controller'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { trackWrites } from '../src/client/own-writes.ts'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'
import { withoutStreaming } from './support/without-streaming.ts'

const DEADLINE_MS = 20_000

let world: TestCluster
let cache: Cache
let running: Promise<void>
const stopping = new AbortController()

beforeAll(async () => {
  world = await openTestCluster()
  cache = new Cache(world.client, { pageSize: 3 })
  running = cache.run(stopping.signal)
})

afterAll(async () => {
  stopping.abort()
  await running
  await world.close()
})

function configMap(name: string, value: string): ConfigMap {
  const metadata = { namespace: world.namespace, name, labels: { suite: 'cache' } }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } }
}

const key = (name: string) => ({ namespace: world.namespace, name })

/** Resolves when a change makes the condition true. */
async function until<T extends KubeObject>(informer: Informer<T>, condition: () => boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const deadline = AbortSignal.timeout(DEADLINE_MS)
  deadline.addEventListener('abort', () => reject(new Error(`not in time: ${JSON.stringify(informer.health())}`)))
  const check = () => {
    if (condition()) resolve()
  }
  const remove = informer.addHandler({ added: check, modified: check, deleted: check, synced: check })
  await promise.finally(remove)
}

async function open<T extends KubeObject>(of: Resource<T>): Promise<Informer<T>> {
  const informer = cache.informer(of, { namespace: world.namespace })
  await informer.waitForSync(AbortSignal.timeout(DEADLINE_MS))
  return informer
}

test('an informer follows a collection through creations, changes and deletions', async () => {
  const { client } = world
  await client.create(ConfigMaps, configMap('before', '1'))
  const informer = await open(ConfigMaps)
  expect(informer.get(key('before'))?.data).toEqual({ value: '1' })
  await client.create(ConfigMaps, configMap('after', '1'))
  await until(informer, () => informer.get(key('after')) !== undefined)
  await client.patch(ConfigMaps, key('after'), { type: 'merge', patch: { data: { value: '2' } } })
  await until(informer, () => informer.get(key('after'))?.data?.value === '2')
  await client.delete(ConfigMaps, key('after'))
  await until(informer, () => informer.get(key('after')) === undefined)
  expect(informer.health()).toMatchObject({ isHealthy: true, failures: 0 })
})

test('an informer lists in pages, with selectors and as metadata only', async () => {
  const { client } = world
  for (let index = 0; index < 7; index++) await client.create(ConfigMaps, configMap(`page-${index}`, '1'))
  const paged = new Cache(withoutStreaming(client), { pageSize: 3 })
  const labelled = paged.informer(ConfigMaps, { namespace: world.namespace, labelSelector: 'suite=cache' })
  const named = paged.informer(ConfigMaps, { namespace: world.namespace, fieldSelector: 'metadata.name=page-3' })
  const partial = paged.informer(ConfigMaps, { namespace: world.namespace, metadataOnly: true })
  const stop = new AbortController()
  const ended = paged.run(stop.signal)
  await paged.waitForSync(AbortSignal.timeout(DEADLINE_MS))
  expect(labelled.list().filter(({ metadata }) => metadata.name.startsWith('page-'))).toHaveLength(7)
  expect(named.list().map(({ metadata }) => metadata.name)).toEqual(['page-3'])
  expect(Object.keys(partial.get(key('page-3')) ?? {})).toEqual(['apiVersion', 'kind', 'metadata'])
  await client.patch(ConfigMaps, key('page-3'), { type: 'merge', patch: { metadata: { labels: { suite: null } } } })
  await until(labelled, () => labelled.get(key('page-3')) === undefined)
  await until(partial, () => partial.get(key('page-3'))?.metadata.labels === undefined)
  stop.abort()
  await ended
})

test('an own write is seen by the very next read, however fast the events come', async () => {
  const informer = await open(ConfigMaps)
  const own = trackWrites(world.client, cache)
  for (let turn = 0; turn < 20; turn++) {
    const created = await own.create(ConfigMaps, configMap('own', `${turn}`))
    expect(informer.get(key('own'))?.metadata.uid).toBe(created.metadata.uid)
    await own.patch(ConfigMaps, key('own'), { type: 'merge', patch: { data: { value: `${turn}-patched` } } })
    expect(informer.get(key('own'))?.data?.value).toBe(`${turn}-patched`)
    await own.delete(ConfigMaps, key('own'))
    expect(informer.get(key('own'))).toBeUndefined()
  }
})

test('deletions hide the object immediately, for every form of the response', async () => {
  const own = trackWrites(world.client, cache)
  const accounts = await open(ServiceAccounts)
  await own.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: key('short-lived') })
  await own.delete(ServiceAccounts, key('short-lived'))
  expect(accounts.get(key('short-lived'))).toBeUndefined()

  const services = await open(Services)
  await own.create(Services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: key('short-lived'),
    spec: { ports: [{ port: 80 }] },
  })
  await own.delete(Services, key('short-lived'))
  expect(services.get(key('short-lived'))).toBeUndefined()

  const maps = await open(ConfigMaps)
  const held = configMap('held', '1')
  await own.create(ConfigMaps, { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } })
  await own.delete(ConfigMaps, key('held'))
  expect(maps.get(key('held'))?.metadata.deletionTimestamp).toBeDefined()
  await own.patch(ConfigMaps, key('held'), { type: 'merge', patch: { metadata: { finalizers: null } } })
  expect(maps.get(key('held'))).toBeUndefined()
})

test('a controller sees changes of its objects and of what they own', async () => {
  const { client, namespace } = world
  const reconciled: string[] = []
  const waiting = new Map<string, () => void>()
  const watcher = new Controller(
    {
      name: 'watcher',
      for: { resource: ConfigMaps, labelSelector: 'watched', namespace },
      owns: [{ resource: ServiceAccounts, namespace }],
      reconcile: async ({ key: { name }, reasons }) => {
        for (const { event, kind } of reasons) {
          reconciled.push(`${event} ${kind} ${name}`)
          waiting.get(`${event} ${kind} ${name}`)?.()
        }
      },
    },
    { cache, client },
  )
  const stop = new AbortController()
  const ended = watcher.run(stop.signal)
  await watcher.whenReady(AbortSignal.timeout(DEADLINE_MS))
  const observe = async (what: string, cause: () => Promise<unknown>) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    waiting.set(what, resolve)
    AbortSignal.timeout(DEADLINE_MS).addEventListener('abort', () =>
      reject(new Error(`${what} not seen: ${reconciled}`)),
    )
    await cause()
    await promise
  }
  const map = configMap('parent', '1')
  const labelled = { ...map, metadata: { ...map.metadata, labels: { watched: '' } } }
  await observe('added ConfigMap parent', () => client.create(ConfigMaps, labelled))
  const { uid } = (await client.get(ConfigMaps, key('parent'))).metadata
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid, controller: true }]
  const child = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...key('child'), ownerReferences } }
  await observe('added ServiceAccount parent', () => client.create(ServiceAccounts, child))
  await observe('deleted ServiceAccount parent', () => client.delete(ServiceAccounts, key('child')))
  await observe('deleted ConfigMap parent', () => client.delete(ConfigMaps, key('parent')))
  stop.abort()
  await ended
})
