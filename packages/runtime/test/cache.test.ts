import { isDeepStrictEqual } from 'node:util'
import { type ConfigMap, ConfigMaps, type Stored } from '@reeve/kube'
import type { Informer } from '@reeve/runtime/cache'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { configMap, type SimulatedWorld, simulatedWorld } from './support/simulated-world.ts'

const key = (name: string) => ({ namespace: 'default', name })
const IN_DEFAULT = { namespace: 'default', labelSelector: 'test' }
const LABELS = { labels: { test: '' } }

let world: SimulatedWorld
afterEach(() => world.stop())

/** A started world with an informer on the labelled ConfigMaps of the default namespace. */
async function open(options: Parameters<typeof simulatedWorld>[0] = {}): Promise<Informer<ConfigMap>> {
  world = await simulatedWorld(options)
  await world.client.create(ConfigMaps, configMap('a', '1', LABELS))
  const informer = world.cache.informer(ConfigMaps, { ...IN_DEFAULT })
  await world.start()
  return informer
}

const put = (name: string, value: string) =>
  world.client.apply(ConfigMaps, configMap(name, value, LABELS), { force: true, fieldManager: 'somebody' })

const dataOf = (informer: Informer<ConfigMap>, name: string) => informer.get(key(name))?.data?.value

async function serverState(): Promise<Map<string, Stored<ConfigMap>>> {
  const { items } = await world.client.listAll(ConfigMaps, IN_DEFAULT)
  // The cache keeps managedFields of the operator only, and these objects are written by others.
  return new Map(
    items.map(({ metadata: { managedFields: _, ...metadata }, ...item }) => [metadata.name, { ...item, metadata }]),
  )
}

const cacheState = (informer: Informer<ConfigMap>) =>
  new Map(informer.list().map((object) => [object.metadata.name, object]))

test('an informer streams the initial state and follows every change', async () => {
  const informer = await open()
  expect(world.cluster.requests.count({ verb: 'list', resource: 'configmaps' })).toBe(0)
  await put('a', '2')
  await put('b', '1')
  await world.client.delete(ConfigMaps, key('a'))
  await world.clock.settle()
  expect(cacheState(informer)).toEqual(await serverState())
  expect(dataOf(informer, 'b')).toBe('1')
})

test('a cache lists in pages and watches from there where the server cannot stream', async () => {
  const informer = await open({ streams: false, cache: { pageSize: 2 } })
  for (const name of ['b', 'c', 'd', 'e']) await put(name, '1')
  await world.clock.settle()
  const second = world.cache.informer(ConfigMaps, { ...IN_DEFAULT, metadataOnly: true })
  await world.clock.settle()
  expect(second.size).toBe(5)
  expect(second.get(key('e'))).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'e' } })
  expect(second.get(key('e'))).not.toHaveProperty('data')
  expect(informer.size).toBe(5)
})

describe('interruptions', () => {
  test('a broken connection is resumed without a list', async () => {
    const informer = await open()
    world.cluster.faults.dropWatches('configmaps', 'reset')
    await put('a', '2')
    await world.clock.advance(5_000)
    expect(dataOf(informer, 'a')).toBe('2')
    expect(informer.health()).toMatchObject({ lists: 1, isHealthy: true })
  })

  test('an expired version makes it list again and notice deletions', async () => {
    const informer = await open()
    await put('b', '1')
    await world.clock.settle()
    const deleted: string[] = []
    informer.addHandler({ deleted: ({ metadata }) => deleted.push(metadata.name) })
    world.cluster.faults.dropWatches('configmaps', 'reset')
    await world.client.delete(ConfigMaps, key('a'))
    await put('b', '2')
    world.cluster.compact()
    await world.clock.advance(10_000)
    expect(cacheState(informer)).toEqual(await serverState())
    expect(informer.health()).toMatchObject({ lists: 2, isHealthy: true })
    expect(deleted).toEqual(['a'])
  })

  test('a connection that falls silent is noticed and replaced', async () => {
    const informer = await open()
    world.cluster.faults.silenceWatches('configmaps')
    await put('a', '2')
    await world.clock.advance(74_000)
    expect(dataOf(informer, 'a')).toBe('1')
    await world.clock.advance(10_000)
    expect(dataOf(informer, 'a')).toBe('2')
    expect(informer.health().lastFailure).toMatchObject({ reason: 'silent' })
  })

  test('bookmarks keep a quiet watch alive for hours, without further requests', async () => {
    const informer = await open()
    await world.clock.advance(3 * 3_600_000)
    expect(informer.health()).toMatchObject({ lists: 1, lastFailure: undefined, isHealthy: true })
    expect(world.cluster.requests.reads).toBe(0)
  })
})

describe('own writes on a watch that lags behind', () => {
  test('are visible immediately, and stay right when the watch catches up', async () => {
    const informer = await open()
    world.cluster.faults.freeze('configmaps')
    await put('c', 'foreign')
    await world.own.create(ConfigMaps, configMap('b', '1', LABELS))
    await world.own.patch(ConfigMaps, key('b'), { type: 'merge', patch: { data: { value: '2' } } })
    await world.own.patch(ConfigMaps, key('a'), { type: 'json', patch: [{ op: 'remove', path: '/metadata/labels' }] })
    await world.clock.settle()
    expect([...cacheState(informer).keys()]).toEqual(['b'])
    expect(dataOf(informer, 'b')).toBe('2')
    await world.own.delete(ConfigMaps, key('b'))
    expect(informer.size).toBe(0)
    await world.own.create(ConfigMaps, configMap('b', '3', LABELS))
    expect(dataOf(informer, 'b')).toBe('3')
    world.cluster.faults.thaw('configmaps')
    await world.clock.settle()
    expect(cacheState(informer)).toEqual(await serverState())
    expect(informer.health().ownWrites).toBe(0)
  })

  test('a deletion that waits for a finalizer is visible; removing the finalizer hides the object', async () => {
    const informer = await open()
    await put('f', '1')
    await world.client.patch(ConfigMaps, key('f'), { type: 'merge', patch: { metadata: { finalizers: ['x.com/y'] } } })
    await world.clock.settle()
    world.cluster.faults.freeze('configmaps')
    await world.own.delete(ConfigMaps, key('f'))
    expect(informer.get(key('f'))?.metadata.deletionTimestamp).toBeDefined()
    await world.own.patch(ConfigMaps, key('f'), { type: 'merge', patch: { metadata: { finalizers: null } } })
    expect(informer.get(key('f'))).toBeUndefined()
    world.cluster.faults.thaw('configmaps')
    await world.clock.settle()
    expect(cacheState(informer)).toEqual(await serverState())
  })
})

const name = fc.constantFrom('a', 'b', 'c')
const value = fc.constantFrom('1', '2', '3')
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('put', 'ownPut', 'ownPatch'), name, value }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('remove', 'ownRemove'), name }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('freeze', 'thaw', 'reset', 'close', 'silence', 'compact') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(10, 1_000, 90_000) }) },
)

test('after any interleaving of writes and faults, own writes never vanish and the cache equals the server', async () => {
  // Opened for each run; the last one is closed like that of any test.
  let isFirst = true
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20, size: 'max' }), fc.nat(1_000), async (steps, seed) => {
      if (!isFirst) await world.stop()
      isFirst = false
      const informer = await open({ seed, streams: seed % 2 === 1 })
      const { clock, cluster, client, own, during } = world
      let isFrozen = false
      const perform = async (action: { do: string; name?: string; value?: string; ms?: number }) => {
        const at = key(action.name ?? 'a')
        const object = configMap(at.name, action.value ?? '1', LABELS)
        switch (action.do) {
          case 'put':
            return put(at.name, object.data?.value ?? '')
          case 'remove':
            return client.delete(ConfigMaps, at).catch(() => undefined)
          case 'ownPut':
          case 'ownPatch': {
            const write =
              action.do === 'ownPut'
                ? own.apply(ConfigMaps, object, { force: true, fieldManager: 'own' })
                : own.patch(ConfigMaps, at, { type: 'merge', patch: { data: { value: action.value } } })
            const written = await write.catch(() => undefined)
            const seen = informer.get(at)?.metadata.resourceVersion
            if (written !== undefined && seen !== written.metadata.resourceVersion) throw new Error('own write unseen')
            return undefined
          }
          case 'ownRemove': {
            const uid = informer.get(at)?.metadata.uid
            if (uid === undefined) return undefined
            const gone = await own.delete(ConfigMaps, at, { preconditions: { uid } }).catch(() => undefined)
            if (gone !== undefined && informer.get(at) !== undefined) throw new Error('own deletion unseen')
            return undefined
          }
          case 'freeze':
            isFrozen = true
            return cluster.faults.freeze('configmaps')
          case 'thaw':
            isFrozen = false
            return cluster.faults.thaw('configmaps')
          case 'reset':
            return cluster.faults.dropWatches('configmaps', 'reset')
          case 'close':
            return cluster.faults.dropWatches('configmaps', 'close')
          case 'silence':
            return cluster.faults.silenceWatches('configmaps')
          case 'compact':
            // A cache that stands still keeps the events it has not shown yet.
            return isFrozen ? undefined : cluster.compact()
          default:
            return clock.advance(action.ms ?? 1)
        }
      }
      for (const action of steps) await perform(action)
      cluster.faults.clear()
      await clock.advance(200_000)
      const truth = await during(serverState())
      if (!isDeepStrictEqual(cacheState(informer), truth)) throw new Error('the cache differs from the server')
      const { isHealthy, ownWrites } = informer.health()
      if (!isHealthy || ownWrites > 0) throw new Error(`not settled: ${JSON.stringify(informer.health())}`)
    }),
    { numRuns: 25 },
  )
})
