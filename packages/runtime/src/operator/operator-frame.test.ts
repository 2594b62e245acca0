import { expect, test } from 'vitest'
import { controller } from '../controller/controller.ts'
import { FakeCluster } from '../testing/fake-cluster.ts'
import { Widgets, widget } from '../testing/fake-objects.ts'
import { SimulatedClock } from '../testing/simulated-clock.ts'
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
  manager.add(controller(widgets, environment))
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  await clock.runUntil(() => seen.length > 0)
  expect(seen).toEqual(['one'])
  expect(cache.isSynced).toBe(true)
  expect((await manager.readiness.run('cache'))[0]?.failure).toBeUndefined()
  stop.abort()
  await clock.runToCompletion(running)
})
