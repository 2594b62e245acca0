import { SimulatedClock } from '@reeve/http/testing'
import { expect, test } from 'vitest'
import { Controller } from '../controller/controller.ts'
import { FakeCluster } from '../testing/fake-cluster.ts'
import { Widgets, widget } from '../testing/fake-objects.ts'
import { conversionWebhook } from '../webhooks/conversion-webhook.ts'
import { WebhookRouter } from '../webhooks/webhook-router.ts'
import { WebhookServer } from '../webhooks/webhook-server.ts'
import { operatorFrame } from './operator-frame.ts'

test('a frame runs controllers on its cache, and is ready while that hears from the server', async () => {
  const clock = new SimulatedClock()
  const cluster = new FakeCluster({ clock })
  cluster.put(Widgets, widget('one'))
  const { manager, cache, environment, shared } = operatorFrame('test-operator', { client: cluster.client, clock })
  expect(shared).toEqual({ clock })
  const seen: (string | undefined)[] = []
  const widgets = {
    name: 'widget',
    for: Widgets,
    reconcile: async ({ key }: { key: { name: string } }) => {
      seen.push(key.name)
    },
  }
  manager.add(new Controller(widgets, environment))
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  await clock.runUntil(() => seen.length > 0)
  expect(seen).toEqual(['one'])
  expect(cache.isSynced).toBe(true)
  expect((await manager.readiness.run('cache'))[0]?.failure).toBeUndefined()
  stop.abort()
  await clock.runToCompletion(running)
})

test('an operator whose webhooks convert stays ready while its cache is cut off, and shows that', async () => {
  const clock = new SimulatedClock()
  const cluster = new FakeCluster({ clock })
  const { manager, cache } = operatorFrame('test-operator', { client: cluster.client, clock })
  cache.informer(Widgets)
  const router = new WebhookRouter([conversionWebhook('/convert', [{ group: 'a', kind: 'B', convert: (one) => one }])])
  const { isNeededByCaches } = new WebhookServer(router, {
    certificates: { current: undefined, subscribe: () => () => undefined },
  })
  manager.add({
    name: 'webhooks',
    needsLeadership: false,
    phase: 'webhooks',
    isNeededByCaches,
    run: () => Promise.resolve(),
  })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  const decisive = async () => (await manager.readiness.run()).filter(({ isRequired }) => isRequired)
  await clock.runUntil(() => cache.isSynced)
  cluster.before = () => {
    throw new Error('conversion webhook failed')
  }
  for (const watch of cluster.watches) watch.fail(new Error('the connection was lost'))
  await clock.advance(120_000)
  expect(await decisive()).toEqual([{ name: 'manager', isRequired: true }])
  expect((await manager.readiness.run('cache'))[0]?.failure).toContain('conversion webhook failed')
  stop.abort()
  await clock.runToCompletion(running)
})

test('readiness names the informer that is cut off, since when and why', async () => {
  const clock = new SimulatedClock()
  const cluster = new FakeCluster({ clock })
  const { manager, cache } = operatorFrame('test-operator', { client: cluster.client, clock })
  cache.informer(Widgets, { labelSelector: 'app=web' })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  const readiness = async () => (await manager.readiness.run('cache'))[0]?.failure
  expect(await readiness()).toBe(
    'widgets.example.com with labels app=web is not synced yet, waiting since 2030-01-01T00:00:00Z',
  )
  await clock.runUntil(() => cache.isSynced)
  expect(await readiness()).toBeUndefined()
  cluster.before = () => {
    throw new Error('connect ECONNREFUSED')
  }
  for (const watch of cluster.watches) watch.fail(new Error('the connection was lost'))
  await clock.advance(120_000)
  expect(await readiness()).toMatch(
    'widgets.example.com with labels app=web is cut off from the API server since 2030-01-01T00:00:00Z: connect ECONNREFUSED',
  )
  stop.abort()
  await clock.runToCompletion(running)
})
