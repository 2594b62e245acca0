import { describe, expect, test } from 'vitest'
import { createMetricsRegistry } from '../metrics/registry.ts'
import { cacheScenario, recorder } from '../testing/cache-scenario.ts'
import { type Widget, Widgets, widget } from '../testing/fake-objects.ts'

const key = (name: string) => ({ namespace: 'ns', name })

describe('silence', () => {
  test('a connection that dies silently is detected after 75 s, reported, closed and resumed', async () => {
    const metrics = await createMetricsRegistry({ processMetrics: false })
    const { cluster, cache, clock, start, stop } = cacheScenario({ cache: { metrics } })
    const widgets = cache.informer(Widgets)
    await start()
    const dead = cluster.watches[0]
    dead?.fallSilent()
    cluster.put(Widgets, widget('a'))
    await clock.advance(74_999)
    expect(widgets.get(key('a'))).toBeUndefined()
    expect(widgets.health()).toMatchObject({ failures: 0 })
    await clock.advance(1)
    expect(widgets.health()).toMatchObject({ failures: 1, state: 'backing-off', lastFailure: { reason: 'silent' } })
    expect(widgets.health().lastFailure?.message).toContain('silent for 75000 ms')
    expect(await metrics.expose()).toContain(
      'informer_failures_total{resource="widgets.example.com",reason="silent"} 1',
    )
    await clock.advance(1_000)
    expect(widgets.get(key('a'))).toBeDefined()
    expect(widgets.health()).toMatchObject({ lists: 1, failures: 0, isHealthy: true })
    await stop()
  })

  test('bookmarks count as activity: a quiet but healthy watch stays open', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    cache.informer(Widgets)
    await start()
    const watch = cluster.watches[0]
    for (let minute = 0; minute < 2; minute++) {
      await clock.advance(60_000)
      cluster.bookmark()
      await clock.settle()
    }
    expect(cluster.watches[0]).toBe(watch)
    await stop()
  })

  test('a silent server makes the informer unhealthy until it responds again', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    const widgets = cache.informer(Widgets)
    await start()
    let isDead = true
    cluster.watches[0]?.fallSilent()
    cluster.before = () => (isDead ? new Promise(() => undefined) : undefined)
    await clock.advance(75_000 + 1_000 + 30_000)
    expect(widgets.health()).toMatchObject({ isHealthy: false, isSynced: true })
    isDead = false
    await clock.advance(35_000)
    expect(widgets.health()).toMatchObject({ isHealthy: true, state: 'watching' })
    await stop()
  })

  test('a server that sends no bookmarks is reconnected every time, without growing delays', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    const widgets = cache.informer(Widgets)
    await start()
    await clock.advance(900_000)
    expect(widgets.health()).toMatchObject({ isHealthy: true, lists: 1 })
    expect(widgets.health().watches).toBeGreaterThanOrEqual(11)
    cluster.put(Widgets, widget('a'))
    await clock.advance(1_000)
    expect(widgets.get(key('a'))).toBeDefined()
    await stop()
  })
})

describe('going back in time', () => {
  test('a list from a server that lags behind is rejected and requested again', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario({ streaming: 'refused' })
    const widgets = cache.informer(Widgets)
    const { heard, handler } = recorder<Widget>()
    widgets.addHandler(handler)
    await start()
    cluster.put(Widgets, widget('a'))
    await clock.settle()
    heard.length = 0
    const list = cluster.client.list
    let stale = true
    // The first list after the interruption comes from a replica that has not seen the object yet.
    Object.assign(cluster.client, {
      list: async (...args: Parameters<typeof list>) => {
        const page = await list(...args)
        return stale ? { ...page, items: [], metadata: { resourceVersion: '100' } } : page
      },
    })
    cluster.watches[0]?.fail(cluster.refuse('watch', 410, 'Expired'))
    await clock.advance(1_000)
    expect(widgets.health().lastFailure?.message).toContain('resourceVersion 100')
    expect(widgets.get(key('a'))).toBeDefined()
    stale = false
    await clock.advance(10_000)
    expect(widgets.health().isHealthy).toBe(true)
    expect(heard).toEqual([])
    await stop()
  })

  test('a server restored from a backup is accepted after three lists', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario({ streaming: 'refused' })
    cluster.put(Widgets, widget('old'))
    const widgets = cache.informer(Widgets)
    await start()
    const backup = Number(cluster.version)
    for (let size = 1; size < 5; size++) cluster.put(Widgets, widget('new', size))
    await clock.settle()
    expect(widgets.size).toBe(2)
    cluster.restore(backup)
    await clock.advance(60_000)
    expect(widgets.list().map(({ metadata }) => metadata.name)).toEqual(['old'])
    cluster.put(Widgets, widget('after'))
    await clock.settle()
    expect(widgets.get(key('after'))).toBeDefined()
    await stop()
  })
})
