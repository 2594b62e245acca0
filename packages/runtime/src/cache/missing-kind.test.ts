import { expect, test } from 'vitest'
import { cacheScenario, recorder } from '../testing/cache-scenario.ts'
import { type Widget, Widgets, widget } from '../testing/fake-objects.ts'

/** A cluster that may serve widgets or not. */
function optionalWidgets(streaming: 'offered' | 'refused') {
  const scenario = cacheScenario({ streaming })
  const { cluster } = scenario
  let isServed = false
  cluster.before = ({ verb, resource }) => {
    if (!isServed && resource === 'widgets') throw cluster.refuse(verb, 404)
  }
  const serve = (is: boolean) => {
    isServed = is
    for (const watch of cluster.watches) watch.end()
  }
  return { ...scenario, serve }
}

test.each(['offered', 'refused'] as const)(
  'a kind that may be missing is empty and healthy until it is served (streaming %s)',
  async (streaming) => {
    const { cluster, cache, clock, start, stop, serve } = optionalWidgets(streaming)
    const widgets = cache.informer(Widgets, { mayBeMissing: true })
    const { heard, handler } = recorder<Widget>()
    widgets.addHandler(handler)
    await start()
    await clock.advance(300_000)
    expect(widgets.health()).toMatchObject({ isSynced: true, isHealthy: true, state: 'missing', failures: 0 })
    expect(widgets.isServed).toBe(false)
    expect(cache.list(Widgets)).toEqual([])
    expect(cluster.count('list')).toBeLessThan(35)
    serve(true)
    cluster.put(Widgets, widget('a'))
    await clock.advance(10_000)
    expect(widgets.isServed).toBe(true)
    expect(heard).toEqual(['synced', 'added a'])
    cluster.put(Widgets, widget('a', 2))
    await clock.settle()
    expect(heard.at(-1)).toBe('modified a 1→2')
    await stop()
  },
)

test('objects of a kind disappear only when it is missing three times in a row', async () => {
  const { cluster, cache, clock, start, stop, serve } = optionalWidgets('refused')
  serve(true)
  cluster.put(Widgets, widget('a'))
  const widgets = cache.informer(Widgets, { mayBeMissing: true })
  const { heard, handler } = recorder<Widget>()
  widgets.addHandler(handler)
  await start()
  // One of several API servers does not serve it yet.
  serve(false)
  await clock.advance(600)
  serve(true)
  await clock.advance(60_000)
  expect(heard).toEqual(['added a (initial)', 'synced'])
  serve(false)
  await clock.advance(60_000)
  expect(heard.at(-1)).toBe('deleted a (unseen)')
  expect(widgets.health()).toMatchObject({ isHealthy: true, state: 'missing' })
  serve(true)
  await clock.advance(10_000)
  expect(heard.at(-1)).toBe('added a')
  await stop()
})

test('a kind that must exist is never empty because it is missing', async () => {
  const { cache, clock, run, stop } = optionalWidgets('refused')
  const widgets = cache.informer(Widgets)
  run()
  await clock.advance(120_000)
  expect(widgets.health()).toMatchObject({ isSynced: false, isHealthy: false })
  await stop()
})
