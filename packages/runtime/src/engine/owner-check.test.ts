import { resource } from '@reeve/kube'
import { describe, expect, test } from 'vitest'
import type { CacheReader } from '../cache/cache-reader.ts'
import { interceptClient } from '../client/intercept.ts'
import { trackWrites } from '../client/own-writes.ts'
import { StaleViewError } from '../runtime-error.ts'
import { cacheScenario } from '../testing/cache-scenario.ts'
import { Gadgets, gadget, Widgets, widget } from '../testing/fake-objects.ts'
import { desired } from './desired-object.ts'
import { OwnerCheck, VersionOrder } from './owner-check.ts'

const key = { namespace: 'ns', name: 'owner' }
const child = desired(Widgets, widget('child'))

/** An owner (a Gadget) and its objects (Widgets) in a running cache, and the requests for the owner. */
async function scenario() {
  const running = cacheScenario()
  const { cluster, cache, clock } = running
  cluster.put(Gadgets, gadget('owner'))
  cache.informer(Gadgets)
  cache.informer(Widgets)
  await running.start()
  const reads: string[] = []
  const client = interceptClient(cluster.client, [
    {
      around({ verb, key: of }, options, send) {
        if (verb === 'get') reads.push(of?.name ?? '')
        return send(options)
      },
    },
  ])
  const versions = new VersionOrder()
  const check = (view: CacheReader = cache) => {
    const owner = cache.get(Gadgets, key)
    if (owner === undefined) throw new Error('the cache has no owner')
    const { signal } = new AbortController()
    return new OwnerCheck({ client, resource: Gadgets, owner, view, versions, signal })
  }
  return { ...running, clock, reads, check, versions, client }
}

describe('before an object is created, its owner', () => {
  test('is not read when the view shows it after the last time that objects disappeared', async () => {
    const { check, reads, stop } = await scenario()
    await check().beforeCreate(child)
    expect(reads).toEqual([])
    await stop()
  })

  test('is read, once per reconcile, when an object disappeared later than the last change of the owner', async () => {
    const { cluster, clock, check, reads, stop } = await scenario()
    cluster.put(Widgets, widget('child'))
    cluster.remove(Widgets, { namespace: 'ns', name: 'child' })
    await clock.settle()
    const reconcile = check()
    await reconcile.beforeCreate(child)
    await reconcile.beforeCreate(child)
    expect(reads).toEqual(['owner'])
    // A newer change of any owner shows that the view of owners has caught up.
    cluster.put(Gadgets, gadget('other'))
    await clock.settle()
    await check().beforeCreate(child)
    expect(reads).toEqual(['owner'])
    await stop()
  })

  test('is read after a deletion by the operator itself, until the watch shows it', async () => {
    const { cluster, cache, clock, check, reads, stop } = await scenario()
    cluster.put(Widgets, widget('child'))
    cluster.put(Gadgets, gadget('other'))
    await clock.settle()
    const deletion = trackWrites(cluster.client, cache).delete(Widgets, { namespace: 'ns', name: 'child' })
    await deletion
    await check().beforeCreate(child)
    expect(reads).toEqual(['owner'])
    await stop()
  })

  test('is read when the view has no such kind, or knows nothing about versions', async () => {
    const { cache, check, reads, stop } = await scenario()
    const Unwatched = resource({ group: 'x', version: 'v1', kind: 'Other', plural: 'others', namespaced: true })
    await check().beforeCreate(desired(Unwatched, { metadata: { namespace: 'ns', name: 'child' } }))
    const { list, byIndex, ownedBy, selects } = cache
    await check({ get: (of, at) => cache.get(of, at), list, byIndex, ownedBy, selects }).beforeCreate(child)
    expect(reads).toEqual(['owner', 'owner'])
    await stop()
  })

  test('was deleted since the reconcile began: nothing is created for it', async () => {
    const { cluster, clock, check, stop } = await scenario()
    cluster.put(Widgets, widget('child'))
    await clock.settle()
    const reconcile = check()
    cluster.remove(Gadgets, key)
    cluster.remove(Widgets, { namespace: 'ns', name: 'child' })
    await clock.settle()
    await expect(reconcile.beforeCreate(child)).rejects.toThrow(StaleViewError)
    await stop()
  })

  test('is read from then on when a creation shows that the two kinds are in different databases', async () => {
    const { check, reads, versions, stop } = await scenario()
    const created = await check().beforeCreate(child)
    created('1')
    expect(versions.isShared).toBe(false)
    await check().beforeCreate(child)
    expect(reads).toEqual(['owner'])
    await stop()
  })
})
