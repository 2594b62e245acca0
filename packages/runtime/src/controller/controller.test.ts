import { sleep } from '@reeve/http'
import { describe, expect, test } from 'vitest'
import { cacheScenario } from '../testing/cache-scenario.ts'
import { controllerScenario } from '../testing/controller-scenario.ts'
import { Gadgets, gadget, Widgets, widget } from '../testing/fake-objects.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { Controller } from './controller.ts'
import { TerminalError } from './controller-error.ts'

const key = (name: string) => ({ namespace: 'ns', name })
const ownedBy = (name: string) => ({
  ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name, uid: `uid-${name}`, controller: true }],
})

describe('what follows a reconcile', () => {
  test('failures are retried after 1 s, 2 s, 4 s …, and a success ends the series', async () => {
    const ranAt: number[] = []
    let fails = 4
    const { cluster, clock, stop, requests } = await controllerScenario({
      reconcile: async ({ clock: now }) => {
        ranAt.push(now.now())
        if (fails-- > 0) throw new Error('not yet')
      },
    })
    cluster.put(Widgets, widget('a'))
    await clock.advance(60_000)
    const delays = ranAt.slice(1).map((at, index) => at - (ranAt[index] ?? 0))
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000])
    expect(requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
    fails = 1
    ranAt.length = 0
    cluster.put(Widgets, widget('a', 2))
    await clock.advance(60_000)
    expect((ranAt[1] ?? 0) - (ranAt[0] ?? 0)).toBe(1_000)
    await stop()
  })

  test('a synchronous throw, or a thrown value that is not an Error, is handled like any failure', async () => {
    const throws = [
      () => {
        throw new Error('at once')
      },
      () => Promise.reject('a string'),
      () => Promise.reject(undefined),
    ]
    const {
      cluster,
      clock,
      stop,
      controller: widgets,
    } = await controllerScenario({
      reconcile: () => throws.shift()?.() ?? Promise.resolve(),
    })
    cluster.put(Widgets, widget('a'))
    await clock.advance(10_000)
    expect(widgets.records.map(({ outcome }) => outcome)).toEqual(['error', 'error', 'error', 'success'])
    await stop()
  })

  test('a terminal error is not retried, but a change of the object is reconciled', async () => {
    const {
      cluster,
      clock,
      stop,
      requests,
      controller: widgets,
    } = await controllerScenario({
      reconcile: async () => {
        throw new TerminalError('spec is wrong')
      },
    })
    cluster.put(Widgets, widget('a'))
    await clock.advance(3_600_000)
    expect(requests).toHaveLength(1)
    cluster.put(Widgets, widget('a', 2))
    await clock.settle()
    expect(requests).toHaveLength(2)
    expect(widgets.records[1]).toMatchObject({ outcome: 'terminal', error: 'spec is wrong', attempt: 1 })
    await stop()
  })

  test('a reconcile may request to run again later; a change comes first', async () => {
    const { cluster, clock, stop, requests } = await controllerScenario({
      reconcile: async () => ({ requeueAfterMs: 30_000 }),
    })
    cluster.put(Widgets, widget('a'))
    await clock.advance(10_000)
    cluster.put(Widgets, widget('a', 2))
    await clock.advance(29_999)
    expect(requests).toHaveLength(2)
    await clock.advance(1)
    expect(requests[2]?.reasons).toEqual([{ event: 'requeue' }])
    await stop()
  })

  test('an overloaded server is retried after the time it asks for', async () => {
    const { cluster, clock, stop, requests } = await controllerScenario({
      reconcile: async () => {
        if (requests.length === 1) throw Object.assign(cluster.refuse('update', 429), { retryAfterMs: 9_000 })
      },
    })
    cluster.put(Widgets, widget('a'))
    await clock.advance(8_999)
    expect(requests).toHaveLength(1)
    await clock.advance(1)
    expect(requests).toHaveLength(2)
    await stop()
  })

  test('reconciles several objects concurrently, never one object twice', async () => {
    const busy = new Map<string, number>()
    let most = 0
    const { cluster, clock, stop, requests } = await controllerScenario({
      concurrency: 3,
      reconcile: async ({ key: { name }, clock: on }) => {
        busy.set(name, (busy.get(name) ?? 0) + 1)
        expect(busy.get(name)).toBe(1)
        most = Math.max(most, [...busy.values()].filter((count) => count > 0).length)
        await sleep(1_000, { clock: on })
        busy.set(name, 0)
      },
    })
    for (let round = 1; round <= 3; round++) {
      for (const name of ['a', 'b', 'c', 'd', 'e']) cluster.put(Widgets, widget(name, round))
      await clock.advance(500)
    }
    await clock.advance(20_000)
    expect(most).toBe(3)
    expect(requests.length).toBeGreaterThanOrEqual(10)
    await stop()
  })
})

describe('own writes', () => {
  test('are visible to the next read of the same reconcile and of the next one, before their event', async () => {
    const seen: (number | undefined)[] = []
    const { cluster, clock, stop } = await controllerScenario({
      owns: [Gadgets],
      reconcile: async ({ client, cache, key: { name } }) => {
        const child = cache.get(Gadgets, key(name))
        seen.push(child?.spec?.size)
        if (child === undefined) await client.create(Gadgets, gadget(name, 7, ownedBy(name)))
        seen.push(cache.get(Gadgets, key(name))?.spec?.size)
      },
    })
    for (const watch of cluster.watches) watch.hold()
    cluster.put(Widgets, widget('a'))
    cluster.watches[0]?.release()
    await clock.settle()
    cluster.put(Widgets, widget('a', 2))
    await clock.settle()
    expect(seen).toEqual([undefined, 7, 7, 7])
    expect(cluster.count('create')).toBe(1)
    await stop()
  })
})

test.each([
  [{ concurrency: 0 }, 'concurrency of the controller w is 0'],
  [{ concurrency: 1.5 }, 'a whole number above 0'],
  [{ timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs of the controller w is Infinity'],
  [{ timeoutMs: -1 }, 'timeoutMs of the controller w is -1'],
  [{ resyncMs: 0 }, 'or Infinity'],
  [{ resyncMs: Number.NaN }, 'resyncMs of the controller w is NaN'],
  [{ namespaces: [] }, 'at least one namespace'],
])('%j is refused when the controller is made', (options, message) => {
  const { cache, cluster } = cacheScenario()
  const make = () =>
    new Controller(
      { name: 'w', for: Widgets, reconcile: async () => undefined, ...options },
      { cache, client: cluster.client },
    )
  expect(make).toThrow(message)
})

test('a controller says that it is ready once its caches are filled', async () => {
  const { cache, cluster, clock, run, stop } = cacheScenario()
  const widgets = new Controller(
    { name: 'w', for: Widgets, reconcile: async () => undefined },
    { cache, client: cluster.client, clock },
  )
  let isReady = false
  const stopping = new AbortController()
  const running = widgets.run(stopping.signal)
  const ready = widgets.whenReady(stopping.signal).then(() => {
    isReady = true
  })
  await clock.settle()
  expect(isReady).toBe(false)
  run()
  await ready
  stopping.abort()
  await running
  await stop()
})

test('caches that do not fill in time end the controller with the reason', async () => {
  const { cache, cluster, clock, run, stop } = cacheScenario()
  const widgets = new Controller(
    { name: 'w', for: Widgets, reconcile: async () => undefined },
    { cache, client: cluster.client, clock },
  )
  cluster.before = () => {
    throw cluster.refuse('list', 403)
  }
  run()
  const running = widgets.run(new AbortController().signal)
  await expect(clock.runToCompletion(running)).rejects.toThrow(/waited 120000 ms.*widgets.example.com.*403/)
  await stop()
})

test('reads of resources that were not declared fail with the remedy', async () => {
  const {
    cluster,
    clock,
    stop,
    controller: widgets,
  } = await controllerScenario({
    reads: [Gadgets],
    reconcile: async ({ cache }) => {
      cache.list(Gadgets)
      cache.get({ ...Gadgets, plural: 'gizmos' }, key('a'))
    },
  })
  cluster.put(Widgets, widget('a'))
  await clock.settle()
  expect(widgets.records[0]?.error).toContain('add it to for, owns, watches or reads of the controller widget')
  await stop()
})

test('log lines have controller, object and run, and are errors only when a person has to act', async () => {
  const logger = recordingLogger()
  const failures: Error[] = []
  const { cluster, clock, stop } = await controllerScenario(
    {
      reconcile: async () => {
        const failure = failures.shift()
        if (failure !== undefined) throw failure
      },
    },
    { logger },
  )
  failures.push(cluster.refuse('update', 409), new Error('hiccup'))
  cluster.put(Widgets, widget('a'))
  await clock.advance(10_000)
  const levels = () => logger.lines.filter(({ fields }) => 'reconcileId' in fields && 'outcome' in fields)
  expect(levels().map(({ level, fields }) => `${level} ${fields.outcome}`)).toEqual([
    'info conflict',
    'warn error',
    'debug success',
  ])
  expect(levels()[0]?.fields).toMatchObject({ controller: 'widget', namespace: 'ns', name: 'a' })
  failures.push(...Array.from({ length: 5 }, () => new Error('still broken')))
  cluster.put(Widgets, widget('a', 2))
  await clock.advance(60_000)
  expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  await stop()
})
