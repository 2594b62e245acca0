import { type KubeClient, type KubeObject, type Resource, resource, type Stored } from '@reeve/kube'
import { describe, expect, test } from 'vitest'
import { trackWrites } from '../client/own-writes.ts'
import { createMetricsRegistry } from '../metrics/registry.ts'
import { cacheScenario } from '../testing/cache-scenario.ts'
import { Gadgets, gadget, type Widget, Widgets, widget } from '../testing/fake-objects.ts'
import { Cache } from './cache.ts'
import type { Transform } from './informer-options.ts'

const key = (name: string, namespace = 'ns') => ({ namespace, name })
const Secrets = resource<KubeObject>({ group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true })

/** Drops most of an object, managed fields included. */
const reduce: Transform = (object) => {
  const { managedFields: _, labels: _labels, ...metadata } = object.metadata
  return { ...object, metadata, spec: {} }
}

describe('informers', () => {
  test('are shared for equal options, and separate otherwise', () => {
    const { cache } = cacheScenario()
    const all = cache.informer(Widgets)
    expect(cache.informer(Widgets)).toBe(all)
    expect(cache.informer(Widgets, { namespace: 'ns' })).not.toBe(all)
    expect(cache.informer(Widgets, { metadataOnly: true })).not.toBe(all)
    expect(cache.informer(Widgets, { transform: (object) => object })).not.toBe(all)
    expect(cache.informer(Gadgets)).not.toBe(all)
    const labelled = cache.informer(Widgets, { labelSelector: 'app=a' })
    expect(cache.informer(Widgets, { labelSelector: 'app=a', indexers: { size: () => [] } })).toBe(labelled)
    expect(labelled.byIndex('size', '1')).toEqual([])
  })

  test('on all Secrets of a cluster are rejected, narrower ones are not', () => {
    const { cache } = cacheScenario()
    expect(() => cache.informer(Secrets)).toThrow('select by namespace, labelSelector or fieldSelector')
    expect(() => cache.informer(Secrets, { namespace: 'ns' })).not.toThrow()
    expect(() => cache.informer(Secrets, { fieldSelector: 'metadata.name=x' })).not.toThrow()
    expect(() => cache.informer(Secrets, { metadataOnly: true })).not.toThrow()
  })

  test('are limited in number', () => {
    const { cache } = cacheScenario({ cache: { maxInformers: 1 } })
    cache.informer(Widgets)
    expect(() => cache.informer(Gadgets)).toThrow('raise maxInformers')
  })

  test('requested while the cache runs start immediately; the last one that returns a borrowed one stops it', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    await start()
    cluster.put(Widgets, widget('a'))
    const first = cache.borrow(Widgets)
    const second = cache.borrow(Widgets)
    expect(second.informer).toBe(first.informer)
    await clock.settle()
    expect(first.informer.size).toBe(1)
    await first.release()
    await first.release()
    expect(cluster.watches).toHaveLength(1)
    await second.release()
    expect(first.informer.health().state).toBe('stopped')
    expect(cluster.watches).toHaveLength(0)
    expect(cache.health().informers).toEqual([])
    const third = cache.borrow(Widgets)
    expect(third.informer).not.toBe(first.informer)
    await clock.settle()
    expect(third.informer.size).toBe(1)
    await stop()
  })

  test('that are also requested for good stay when they are returned', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    await start()
    const borrowed = cache.borrow(Widgets)
    expect(cache.informer(Widgets)).toBe(borrowed.informer)
    await clock.settle()
    await borrowed.release()
    expect(cluster.watches).toHaveLength(1)
    await stop()
  })

  test('that are borrowed count as unhealthy only once they were synced', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    await start()
    cluster.before = ({ verb }) => {
      throw cluster.refuse(verb, 403)
    }
    const { informer } = cache.borrow(Widgets)
    await clock.advance(60_000)
    expect(informer.health().isHealthy).toBe(false)
    expect(cache.health()).toMatchObject({ isHealthy: true, unhealthy: [] })
    cluster.before = () => undefined
    await clock.advance(60_000)
    expect(informer.health().isHealthy).toBe(true)
    cluster.before = ({ verb }) => {
      throw cluster.refuse(verb, 403)
    }
    for (const watch of cluster.watches) watch.end()
    await clock.advance(60_000)
    expect(cache.health()).toMatchObject({ isHealthy: false, unhealthy: [{ resource: 'widgets.example.com' }] })
    await stop()
  })

  test('return frozen objects without managed fields', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    cluster.put(Widgets, widget('a', 1, { managedFields: [{ manager: 'kubectl' }] }))
    const widgets = cache.informer(Widgets)
    await start()
    const cached = widgets.get(key('a'))
    expect(cached?.metadata).not.toHaveProperty('managedFields')
    expect(() => Object.assign(cached?.spec ?? {}, { size: 5 })).toThrow(TypeError)
    await stop()
  })

  test.each([
    ['as a whole', {}],
    ['as metadata', { metadataOnly: true }],
    ['reduced', { transform: reduce }],
  ])('return objects with the managed fields of the operator, also of its own writes: %s', async (_how, options) => {
    const { cluster, cache, start, stop } = cacheScenario({ cache: { fieldManager: 'op' } })
    const managedFields = [{ manager: 'kubectl' }, { manager: 'op' }, { manager: 'op', subresource: 'status' }]
    cluster.put(Widgets, widget('a', 1, { managedFields }))
    const widgets = cache.informer(Widgets, options)
    await start()
    await trackWrites(cluster.client, cache).create(Widgets, widget('b', 1, { managedFields }))
    for (const name of ['a', 'b']) {
      expect(widgets.get(key(name))?.metadata.managedFields).toEqual([{ manager: 'op' }])
    }
    await stop()
  })

  test('that cache metadata only drop everything else, also from own writes', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    cluster.put(Widgets, widget('a'))
    const widgets = cache.informer(Widgets, { metadataOnly: true })
    await start()
    await trackWrites(cluster.client, cache).create(Widgets, widget('b'))
    for (const object of widgets.list()) expect(Object.keys(object)).toEqual(['apiVersion', 'kind', 'metadata'])
    expect(widgets.size).toBe(2)
    await stop()
  })

  test('index by namespace, owner and declared keys', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    const owner = (uid: string, controller: boolean) => [
      { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid, controller },
    ]
    cluster.put(Gadgets, gadget('a', 1, { ownerReferences: owner('u1', true) }))
    cluster.put(Gadgets, gadget('b', 2, { namespace: 'other', ownerReferences: owner('u1', false) }))
    cluster.put(Gadgets, gadget('c', 2))
    const gadgets = cache.informer(Gadgets, { indexers: { size: (object) => [String(object.spec?.size)] } })
    await start()
    const names = (objects: readonly Stored<Widget>[]) => objects.map(({ metadata }) => metadata.name).toSorted()
    expect(names(gadgets.list({ namespace: 'ns' }))).toEqual(['a', 'c'])
    expect(names(gadgets.byIndex('size', '2'))).toEqual(['b', 'c'])
    expect(names(gadgets.byIndex('owner', 'u1'))).toEqual(['a', 'b'])
    expect(names(gadgets.ownedBy('u1'))).toEqual(['a'])
    expect(() => gadgets.byIndex('colour', 'red')).toThrow('declare it under indexers')
    await stop()
  })
})

describe('reading through the cache', () => {
  test('finds objects in whichever informer covers them, each once', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    cluster.put(Widgets, widget('a', 1, { labels: { app: 'x' } }))
    cluster.put(Widgets, widget('b'))
    cache.informer(Widgets, { namespace: 'ns' })
    cache.informer(Widgets, { labelSelector: 'app=x' })
    await start()
    expect(cache.get(Widgets, key('b'))?.metadata.name).toBe('b')
    expect(cache.list(Widgets)).toHaveLength(2)
    expect(cache.list(Widgets, { namespace: 'ns', labelSelector: 'app=x' })).toHaveLength(1)
    expect(cache.get(Widgets, key('zzz'))).toBeUndefined()
    await stop()
  })

  test('fails for resources that are not cached instead of reporting them as absent', () => {
    const { cache } = cacheScenario()
    cache.informer(Widgets, { namespace: 'ns' })
    expect(() => cache.get(Gadgets, key('a'))).toThrow(
      'gadgets.example.com (example.com/v1) in namespace ns is not cached',
    )
    expect(() => cache.get(Widgets, key('a', 'other'))).toThrow('in namespace other is not cached')
    const older: Resource<Widget> = { ...Widgets, version: 'v1alpha1' }
    expect(() => cache.list(older)).toThrow('example.com/v1alpha1')
  })

  test('fails until the first list has arrived instead of reporting objects as absent', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    cluster.put(Widgets, widget('a'))
    cache.informer(Widgets)
    for (const read of [
      () => cache.get(Widgets, key('a')),
      () => cache.list(Widgets),
      () => cache.ownedBy(Widgets, 'uid'),
      () => cache.byIndex(Widgets, 'namespace', 'ns'),
    ]) {
      expect(read).toThrow('widgets.example.com is not synced yet: await cache.waitForSync(signal)')
    }
    await start()
    expect(cache.get(Widgets, key('a'))?.metadata.name).toBe('a')
    await stop()
  })
})

describe('own writes', () => {
  test('of every verb are visible in all informers they belong to, before any event', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    const all = cache.informer(Widgets)
    const labelled = cache.informer(Widgets, { labelSelector: 'app=x' })
    const elsewhere = cache.informer(Widgets, { namespace: 'other' })
    await start()
    for (const watch of cluster.watches) watch.hold()
    const client = trackWrites(cluster.client, cache)
    const sizes = () => [all, labelled, elsewhere].map((informer) => informer.get(key('a'))?.spec?.size)

    const created = await client.create(Widgets, widget('a', 1, { labels: { app: 'x' } }))
    expect(sizes()).toEqual([1, 1, undefined])
    await client.update(Widgets, { ...created, spec: { size: 2 } })
    expect(sizes()).toEqual([2, 2, undefined])
    await client.patch(Widgets, key('a'), { type: 'merge', patch: { spec: { size: 3 } } })
    expect(sizes()).toEqual([3, 3, undefined])
    await client.apply(Widgets, widget('a', 4, { labels: { app: 'y' } }))
    expect(sizes()).toEqual([4, undefined, undefined])
    await client.delete(Widgets, key('a'))
    expect(sizes()).toEqual([undefined, undefined, undefined])
    await stop()
  })

  test('stay the same object when their event arrives, and are replaced by the next change', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    const widgets = cache.informer(Widgets)
    await start()
    cluster.watches[0]?.hold()
    const created = await trackWrites(cluster.client, cache).create(Widgets, widget('a', 1))
    const seen = widgets.get(key('a'))
    cluster.watches[0]?.release()
    await clock.settle()
    expect(widgets.get(key('a'))).toBe(seen)
    await cluster.client.update(Widgets, { ...created, spec: { size: 2 } })
    await clock.settle()
    expect(widgets.get(key('a'))?.spec?.size).toBe(2)
    await stop()
  })

  test('are counted until the watch has caught up', async () => {
    const metrics = await createMetricsRegistry({ processMetrics: false })
    const { cluster, cache, clock, start, stop } = cacheScenario({ cache: { metrics } })
    cache.informer(Widgets)
    await start()
    cluster.watches[0]?.hold()
    await trackWrites(cluster.client, cache).create(Widgets, widget('a'))
    expect(await metrics.expose()).toContain('informer_own_writes_pending{resource="widgets.example.com"} 1')
    cluster.watches[0]?.release()
    await clock.settle()
    const text = await metrics.expose()
    expect(text).toContain('informer_own_writes_pending{resource="widgets.example.com"} 0')
    expect(text).toContain('informer_objects{resource="widgets.example.com"} 1')
    await stop()
  })

  test('that failed do not change the cache', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    cluster.put(Widgets, widget('a'))
    const widgets = cache.informer(Widgets)
    await start()
    const client = trackWrites(cluster.client, cache)
    await expect(client.create(Widgets, widget('a', 9))).rejects.toThrow('AlreadyExists')
    await expect(client.delete(Widgets, key('a'), { preconditions: { uid: 'other' } })).rejects.toThrow('409')
    expect(widgets.get(key('a'))?.spec?.size).toBe(1)
    await stop()
  })

  /** A client that responds to every write with `answer`. */
  function answering(client: KubeClient, answer: KubeObject): KubeClient {
    const respond = () => Promise.resolve(answer as never) // the type a caller expects is not what is tested here
    return { ...client, update: respond, patch: respond, delete: respond }
  }

  test.each([
    ['a dry run', { dryRun: true }, 'Widget'],
    ['a subresource of another kind', { subresource: 'scale' }, 'Scale'],
  ])('%s changes nothing', async (_, options, kind) => {
    const { cluster, cache, start, stop } = cacheScenario()
    const before = cluster.put(Widgets, widget('a'))
    const widgets = cache.informer(Widgets)
    await start()
    const answer = { ...before, kind, spec: { size: 9 }, metadata: { ...before.metadata, resourceVersion: '999' } }
    await trackWrites(answering(cluster.client, answer), cache).update(Widgets, before, options)
    expect(widgets.get(key('a'))?.spec?.size).toBe(1)
    await stop()
  })

  test('an update that removes the last finalizer of an object being deleted removes the object', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    const before = cluster.put(
      Widgets,
      widget('a', 1, { finalizers: ['x'], deletionTimestamp: '2030-01-01T00:00:00Z' }),
    )
    const widgets = cache.informer(Widgets)
    await start()
    const answer = { ...before, metadata: { ...before.metadata, finalizers: [] } }
    await trackWrites(answering(cluster.client, answer), cache).update(Widgets, answer)
    expect(widgets.get(key('a'))).toBeUndefined()
    await stop()
  })

  test('an object whose deletion waits for a finalizer is shown as being deleted', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    const before = cluster.put(Widgets, widget('a', 1, { finalizers: ['x'] }))
    const widgets = cache.informer(Widgets)
    await start()
    const deletionTimestamp = '2030-01-01T00:00:00Z'
    const answer = { ...before, metadata: { ...before.metadata, deletionTimestamp, resourceVersion: '999' } }
    await trackWrites(answering(cluster.client, answer), cache).delete(Widgets, key('a'))
    expect(widgets.get(key('a'))?.metadata.deletionTimestamp).toBe(deletionTimestamp)
    await stop()
  })

  test('a deletion that returns the last state of the object hides it', async () => {
    const { cluster, cache, start, stop } = cacheScenario()
    const before = cluster.put(Widgets, widget('a'))
    const widgets = cache.informer(Widgets)
    await start()
    await trackWrites(answering(cluster.client, before), cache).delete(Widgets, key('a'))
    expect(widgets.get(key('a'))).toBeUndefined()
    await stop()
  })
})

test.each([
  [{ silenceMs: Number.POSITIVE_INFINITY }, 'silenceMs of the cache is Infinity'],
  [{ pageSize: -1 }, 'pageSize of the cache is -1'],
  [{ silenceMs: 0 }, 'silenceMs of the cache is 0'],
])('%j is rejected when the cache is created', (cache, message) => {
  expect(() => cacheScenario({ cache })).toThrow(message)
})

test('a cache runs once and returns immediately if its signal is already aborted', async () => {
  const { cluster } = cacheScenario()
  const cache = new Cache(cluster.client)
  cache.informer(Widgets)
  await cache.run(AbortSignal.abort())
  await expect(cache.run(AbortSignal.abort())).rejects.toThrow('run of the cache is called twice')
})
