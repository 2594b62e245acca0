import { ConnectionError } from '@reeve/kube'
import { describe, expect, test } from 'vitest'
import { createMetricsRegistry } from '../metrics/registry.ts'
import { cacheScenario, recorder } from '../testing/cache-scenario.ts'
import { type Widget, Widgets, widget } from '../testing/fake-objects.ts'

const key = (name: string) => ({ namespace: 'ns', name })
const lost = () => new ConnectionError('connection reset', 'response')

describe('filling', () => {
  test('streams the initial state where the server offers it, then follows changes on the same connection', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    cluster.put(Widgets, widget('a'))
    const widgets = cache.informer(Widgets)
    const { heard, handler } = recorder<Widget>()
    widgets.addHandler(handler)
    await start()
    expect(cluster.count('list')).toBe(0)
    cluster.put(Widgets, widget('a', 2))
    cluster.put(Widgets, widget('b'))
    cluster.remove(Widgets, key('a'))
    await clock.settle()
    expect(heard).toEqual(['added a (initial)', 'synced', 'modified a 1→2', 'added b', 'deleted a'])
    expect(widgets.list().map(({ metadata }) => metadata.name)).toEqual(['b'])
    expect(cluster.count('watch')).toBe(1)
    await stop()
  })

  test.each(['refused', 'ignored'] as const)('lists in pages when streaming is %s', async (streaming) => {
    const { cluster, cache, start, stop } = cacheScenario({ streaming, cache: { pageSize: 2 } })
    for (const name of ['a', 'b', 'c', 'd', 'e']) cluster.put(Widgets, widget(name))
    const widgets = cache.informer(Widgets)
    await start()
    expect(widgets.size).toBe(5)
    expect(cluster.count('list')).toBe(3)
    await stop()
  })

  test('a rejection of streaming is shared with the other informers of the cache', async () => {
    const { cluster, cache, start, stop, clock } = cacheScenario({ streaming: 'refused' })
    cache.informer(Widgets)
    await start()
    const streamed = () => cluster.watches.filter(({ options }) => options.sendInitialEvents)
    expect(streamed()).toEqual([])
    const before = cluster.count('watch')
    cache.informer(Widgets, { namespace: 'other' })
    await clock.settle()
    expect(cluster.count('list')).toBe(2)
    expect(cluster.count('watch')).toBe(before + 1)
    await stop()
  })

  test('a list whose pages expire is repeated without pages', async () => {
    const { cluster, cache, start, stop } = cacheScenario({ streaming: 'refused', cache: { pageSize: 2 } })
    for (const name of ['a', 'b', 'c', 'd', 'e']) cluster.put(Widgets, widget(name))
    cluster.after = ({ verb }) => {
      if (verb !== 'list' || cluster.count('list') > 1) return
      cluster.put(Widgets, widget('f'))
      cluster.compact()
    }
    const widgets = cache.informer(Widgets)
    await start()
    expect(widgets.size).toBe(6)
    expect(cluster.count('list')).toBe(3)
    await stop()
  })

  test('retries with growing delays while the server rejects it, and reports it in its health', async () => {
    const { cluster, cache, clock, run, stop } = cacheScenario({ streaming: 'refused' })
    cluster.before = ({ verb }) => {
      if (verb === 'list') throw cluster.refuse('list', 404)
    }
    const widgets = cache.informer(Widgets)
    run()
    await clock.advance(31_000)
    expect(widgets.health()).toMatchObject({ isSynced: false, isHealthy: false, state: 'backing-off' })
    expect(widgets.health().lastFailure).toMatchObject({ reason: 'refused' })
    expect(widgets.health().lastFailure?.message).toContain('404')
    const attempts = cluster.count('list')
    expect(attempts).toBeGreaterThan(3)
    expect(attempts).toBeLessThan(10)
    cluster.before = () => undefined
    await clock.runUntil(() => widgets.isSynced)
    expect(widgets.health().isHealthy).toBe(true)
    await stop()
  })

  test('a list without a response fails after its deadline', async () => {
    const { cluster, cache, clock, run, stop } = cacheScenario({ streaming: 'refused' })
    cluster.before = ({ verb }) => (verb === 'list' ? new Promise(() => undefined) : undefined)
    const widgets = cache.informer(Widgets)
    run()
    await clock.advance(60_000)
    expect(widgets.health().lastFailure?.message).toContain('took longer than 60000 ms')
    cluster.before = () => undefined
    await clock.runUntil(() => widgets.isSynced)
    await stop()
  })
})

describe('staying current', () => {
  test('resumes where it was after a broken connection, without listing again', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    const widgets = cache.informer(Widgets)
    const { heard, handler } = recorder<Widget>()
    await start()
    cluster.put(Widgets, widget('a'))
    await clock.settle()
    widgets.addHandler(handler)
    heard.length = 0
    cluster.watches[0]?.fail(lost())
    cluster.put(Widgets, widget('a', 2))
    await clock.advance(5_000)
    expect(heard).toEqual(['modified a 1→2'])
    expect(widgets.health()).toMatchObject({ lists: 1, watches: 2, state: 'watching' })
    await stop()
  })

  test('asks the server to end the watch before a load balancer would, and resumes immediately', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    cache.informer(Widgets)
    await start()
    const seconds: number[] = []
    for (let turn = 0; turn < 5; turn++) {
      seconds.push(cluster.watches[0]?.options.timeoutSeconds ?? 0)
      for (let minute = 0; minute < 4; minute++) {
        await clock.advance(60_000)
        cluster.bookmark()
      }
    }
    expect(Math.max(...seconds)).toBeLessThan(240)
    expect(Math.min(...seconds)).toBeGreaterThanOrEqual(180)
    expect(cache.health().informers[0]).toMatchObject({ lists: 1, failures: 0, isHealthy: true })
    await stop()
  })

  test('lists again after 410 and calls handlers once per change, missed deletions included', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    for (const name of ['stays', 'changes', 'goes', 'reborn']) cluster.put(Widgets, widget(name))
    const widgets = cache.informer(Widgets)
    const { heard, handler } = recorder<Widget>()
    widgets.addHandler(handler)
    await start()
    heard.length = 0
    const before = widgets.get(key('stays'))
    cluster.watches[0]?.fail(lost())
    cluster.put(Widgets, widget('changes', 2))
    cluster.remove(Widgets, key('goes'))
    cluster.remove(Widgets, key('reborn'))
    cluster.put(Widgets, widget('reborn'))
    cluster.put(Widgets, widget('comes'))
    cluster.compact()
    await clock.advance(10_000)
    expect(heard.toSorted()).toEqual([
      'added comes',
      'added reborn',
      'deleted goes (unseen)',
      'deleted reborn (unseen)',
      'modified changes 1→2',
    ])
    expect(heard.indexOf('deleted reborn (unseen)')).toBeLessThan(heard.indexOf('added reborn'))
    expect(widgets.get(key('stays'))).toBe(before)
    expect(widgets.health()).toMatchObject({ lists: 2, isHealthy: true })
    await stop()
  })

  test('an expired version that arrives as an ERROR event has the same effect', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    const widgets = cache.informer(Widgets)
    await start()
    cluster.watches[0]?.hold()
    cluster.put(Widgets, widget('a'))
    cluster.watches[0]?.fail(cluster.refuse('watch', 410, 'Expired'))
    await clock.advance(2_000)
    expect(widgets.get(key('a'))).toBeDefined()
    expect(widgets.health().lists).toBe(2)
    await stop()
  })

  test('a server that expires every version is retried with growing delays', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario({ streaming: 'refused' })
    cache.informer(Widgets)
    await start()
    cluster.before = ({ verb }) => {
      if (verb === 'watch') throw cluster.refuse('watch', 410, 'Expired')
    }
    cluster.watches[0]?.fail(cluster.refuse('watch', 410, 'Expired'))
    await clock.advance(300_000)
    expect(cluster.count('list')).toBeLessThan(20)
    await stop()
  })

  test('a watch that keeps closing immediately is not reopened in a tight loop', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    cache.informer(Widgets)
    await start()
    cluster.before = ({ verb }) => {
      if (verb === 'watch') for (const watch of cluster.watches) watch.end()
    }
    cluster.watches[0]?.end()
    await clock.advance(300_000)
    expect(cluster.count('watch')).toBeLessThan(25)
    await stop()
  })

  test('waits as long as an overloaded server asks', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    cache.informer(Widgets)
    await start()
    const error = cluster.refuse('watch', 429)
    cluster.watches[0]?.fail(Object.assign(error, { retryAfterMs: 20_000 }))
    await clock.advance(19_999)
    expect(cluster.watches).toHaveLength(0)
    await clock.advance(1)
    expect(cluster.watches).toHaveLength(1)
    await stop()
  })
})

describe('handlers', () => {
  test('one that throws is logged and counted, the others and the cache continue', async () => {
    const metrics = await createMetricsRegistry({ processMetrics: false })
    const { cluster, cache, clock, start, stop } = cacheScenario({ cache: { metrics } })
    const widgets = cache.informer(Widgets)
    widgets.addHandler({
      added: () => {
        throw new Error('boom')
      },
    })
    const { heard, handler } = recorder<Widget>()
    widgets.addHandler(handler)
    await start()
    cluster.put(Widgets, widget('a'))
    await clock.settle()
    expect(heard).toEqual(['synced', 'added a'])
    expect(await metrics.expose()).toContain('informer_handler_errors_total{resource="widgets.example.com"} 1')
    await stop()
  })

  test('one added later is called with existing objects, one removed is no longer called', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario()
    cluster.put(Widgets, widget('a'))
    const widgets = cache.informer(Widgets)
    await start()
    const { heard, handler } = recorder<Widget>()
    const remove = widgets.addHandler(handler)
    expect(heard).toEqual(['added a (initial)', 'synced'])
    remove()
    cluster.put(Widgets, widget('b'))
    await clock.settle()
    expect(heard).toHaveLength(2)
    await stop()
  })
})

test('an object that cannot be processed makes the informer unhealthy instead of being skipped silently', async () => {
  const { cluster, cache, clock, start, stop } = cacheScenario()
  let isBroken = true
  const widgets = cache.informer(Widgets, {
    transform: (object) => {
      if (isBroken && object.metadata.name === 'bad') throw new Error('cannot read this')
      return object
    },
  })
  await start()
  cluster.put(Widgets, widget('bad'))
  await clock.advance(120_000)
  expect(widgets.health()).toMatchObject({ isHealthy: false, lastFailure: { reason: 'internal' } })
  isBroken = false
  await clock.advance(60_000)
  expect(widgets.health().isHealthy).toBe(true)
  expect(widgets.get(key('bad'))).toBeDefined()
  await stop()
})

describe('stopping', () => {
  test('stops promptly, also when the server ignores an abort, and leaves no timer', async () => {
    const { cluster, cache, clock, start, stop } = cacheScenario({ streaming: 'refused' })
    const widgets = cache.informer(Widgets)
    await start()
    cluster.watches[0]?.fallSilent()
    await stop()
    expect(widgets.health().state).toBe('stopped')
    // Only the fake server's watch timeouts are left.
    await clock.advance(300_000)
    expect(clock.pendingTimers).toBe(0)
  })

  test('waiting for the sync of a stopped informer fails', async () => {
    const { cluster, cache, run, stop, clock } = cacheScenario({ streaming: 'refused' })
    cluster.before = () => new Promise(() => undefined)
    const widgets = cache.informer(Widgets)
    run()
    const waiting = widgets.waitForSync(new AbortController().signal)
    const aborted = new AbortController()
    const impatient = widgets.waitForSync(aborted.signal)
    await clock.settle()
    aborted.abort(new Error('no time'))
    await expect(impatient).rejects.toThrow('no time')
    const outcome = expect(waiting).rejects.toThrow('the informer of widgets.example.com was stopped')
    await stop()
    await outcome
  })
})
