import { ConfigMaps, Nodes, sleep } from '@reeve/kube'
import { describe, expect, test } from 'vitest'
import { cacheScenario } from '../testing/cache-scenario.ts'
import { controllerScenario } from '../testing/controller-scenario.ts'
import { Gadgets, gadget, type Widget, Widgets, widget } from '../testing/fake-objects.ts'
import { recordingLogger } from '../testing/recording-logger.ts'
import { controller } from './controller.ts'
import { ControllerStoppingError, ReconcileTimeoutError, TerminalError } from './controller-error.ts'
import { generationChanged } from './predicates.ts'

const key = (name: string) => ({ namespace: 'ns', name })
const ownedBy = (name: string) => ({
  ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name, uid: `uid-${name}`, controller: true }],
})

describe('what makes it look', () => {
  test('everything that exists when it starts, with low priority and the reason "existing"', async () => {
    const { requests, stop } = await controllerScenario({}, {}, ({ cluster }) => {
      cluster.put(Widgets, widget('a'))
      cluster.put(Widgets, widget('b'))
    })
    expect(requests.map((request) => request.key)).toEqual([key('a'), key('b')])
    expect(requests[0]?.reasons).toEqual([{ event: 'existing', kind: 'Widget', namespace: 'ns', name: 'a' }])
    expect(requests[0]?.object?.metadata.name).toBe('a')
    await stop()
  })

  test('changes and deletions of its own resource, and of what it owns', async () => {
    const { requests, cluster, clock, stop } = await controllerScenario({ owns: [Gadgets] })
    const steps: [() => void, string][] = [
      [() => cluster.put(Widgets, widget('a')), 'created Widget'],
      [() => cluster.put(Widgets, widget('a', 2)), 'updated Widget'],
      [() => cluster.put(Gadgets, gadget('child', 1, ownedBy('a'))), 'created Gadget'],
      [() => cluster.remove(Gadgets, key('child')), 'deleted Gadget'],
      [() => cluster.remove(Widgets, key('a')), 'deleted Widget'],
    ]
    for (const [step, reason] of steps) {
      step()
      await clock.settle()
      const request = requests.pop()
      expect(request?.key).toEqual(key('a'))
      expect(request?.reasons.map(({ event, kind }) => `${event} ${kind}`)).toEqual([reason])
      expect(requests).toEqual([])
    }
    cluster.put(Gadgets, gadget('orphan'))
    cluster.put(
      Gadgets,
      gadget('other', 1, { ownerReferences: [{ ...ownedBy('a').ownerReferences[0], kind: 'Pod' }] as never }),
    )
    await clock.settle()
    expect(requests).toEqual([])
    await stop()
  })

  test('whatever a mapper says, of the old and the new state', async () => {
    const { requests, cluster, clock, stop } = await controllerScenario<[Widget]>({
      watches: [{ resource: Gadgets, map: ({ spec }) => [key(`size-${spec?.size}`)] }],
    })
    cluster.put(Gadgets, gadget('g', 1))
    await clock.settle()
    requests.length = 0
    cluster.put(Gadgets, gadget('g', 2))
    await clock.settle()
    expect(requests.map((request) => request.key.name).toSorted()).toEqual(['size-1', 'size-2'])
    await stop()
  })

  test('watched objects of several kinds, each with its own type', async () => {
    const { cache, cluster, clock, start, stop } = cacheScenario()
    const looked: string[] = []
    const widgets = controller(
      {
        name: 'w',
        for: Widgets,
        watches: [
          { resource: ConfigMaps, namespace: 'ns', map: ({ data }) => [key(data?.widget ?? '')] },
          {
            resource: Nodes,
            map: ({ spec }) => [key(spec?.podCIDR ?? '')],
            predicate: ({ object }) => !object.spec?.unschedulable,
          },
        ],
        reconcile: async ({ key: { name } }) => {
          looked.push(name)
        },
      },
      { cache, client: cluster.client, clock },
    )
    await start()
    const stopping = new AbortController()
    const running = widgets.run(stopping.signal)
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'c' } }
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
    await clock.settle()
    cluster.put(ConfigMaps, { ...config, data: { widget: 'from-config' } })
    cluster.put(Nodes, { ...node, spec: { podCIDR: 'from-node' } })
    cluster.put(Nodes, { ...node, metadata: { name: 'm' }, spec: { podCIDR: 'held-back', unschedulable: true } })
    await clock.settle()
    expect(looked).toEqual(['from-config', 'from-node'])
    stopping.abort()
    await running
    await stop()
  })

  test('only the namespaces it is limited to', async () => {
    const {
      requests,
      cluster,
      clock,
      stop,
      controller: widgets,
    } = await controllerScenario({
      namespaces: ['ns', 'two'],
      owns: [Gadgets],
      resyncMs: 60_000,
    })
    cluster.put(Widgets, widget('a'))
    cluster.put(Widgets, widget('b', 1, { namespace: 'two' }))
    cluster.put(Widgets, widget('c', 1, { namespace: 'three' }))
    cluster.put(Gadgets, gadget('g', 1, { ...ownedBy('b'), namespace: 'two' }))
    await clock.settle()
    const looked = () =>
      requests.splice(0).map((request) => `${request.key.namespace}/${request.object?.metadata.name}`)
    expect(looked().toSorted()).toEqual(['ns/a', 'two/b'])
    await clock.advance(66_000)
    expect(looked().toSorted()).toEqual(['ns/a', 'two/b'])
    widgets.enqueue({ namespace: 'three', name: 'c' })
    await clock.settle()
    expect(looked()).toEqual([])
    await stop()
  })

  test('nothing that a predicate holds back', async () => {
    const { requests, cluster, clock, stop } = await controllerScenario({
      for: { resource: Widgets, predicate: generationChanged },
    })
    cluster.put(Widgets, widget('a', 1, { generation: 1 }))
    await clock.settle()
    cluster.put(Widgets, { ...widget('a', 1, { generation: 1 }), status: { phase: 'Ready' } })
    await clock.settle()
    expect(requests).toHaveLength(1)
    cluster.put(Widgets, widget('a', 2, { generation: 2 }))
    await clock.settle()
    expect(requests).toHaveLength(2)
    await stop()
  })

  test('a call from outside', async () => {
    const { requests, controller: widgets, clock, stop } = await controllerScenario()
    widgets.enqueue(key('a'))
    await clock.settle()
    expect(requests[0]).toMatchObject({ key: key('a'), object: undefined, reasons: [{ event: 'external' }] })
    await stop()
  })

  test('a resync, about every period, without any request', async () => {
    const { requests, cluster, clock, stop } = await controllerScenario({ resyncMs: 30_000 }, { random: () => 0.5 })
    cluster.put(Widgets, widget('a'))
    await clock.settle()
    requests.length = 0
    const requestsBefore = cluster.requests.filter(({ verb }) => verb !== 'watch').length
    await clock.advance(65_000)
    expect(requests.map((request) => request.reasons)).toEqual([[{ event: 'resync' }], [{ event: 'resync' }]])
    expect(cluster.requests.filter(({ verb }) => verb !== 'watch')).toHaveLength(requestsBefore)
    await stop()
  })

  test('many changes at once as one', async () => {
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const { requests, cluster, clock, stop } = await controllerScenario({ reconcile: () => gate })
    cluster.put(Widgets, widget('a'))
    await clock.settle()
    for (let size = 2; size < 20; size++) cluster.put(Widgets, widget('a', size))
    await clock.settle()
    expect(requests).toHaveLength(1)
    release()
    await clock.settle()
    expect(requests).toHaveLength(2)
    expect(requests[1]?.object?.spec?.size).toBe(19)
    await stop()
  })
})

describe('how it goes on', () => {
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

  test('what is thrown synchronously, or is no error at all, is contained like any failure', async () => {
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

  test('a terminal error is not retried, but a change of the object is looked at', async () => {
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

  test('a reconcile may ask to run again later; a change comes first', async () => {
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

  test('an overloaded server is given the time it asks for', async () => {
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

  test('works on several objects at once, never on one object twice', async () => {
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

describe('limits', () => {
  test('a reconcile that takes too long gets its signal, and is retried', async () => {
    const reasons: unknown[] = []
    const {
      cluster,
      clock,
      stop,
      controller: widgets,
    } = await controllerScenario({
      timeoutMs: 5_000,
      reconcile: async ({ signal, clock: on, attempt }) => {
        if (attempt > 1) return
        await sleep(60_000, { clock: on, signal }).catch((error) => {
          reasons.push(error)
          throw error
        })
      },
    })
    cluster.put(Widgets, widget('a'))
    await clock.advance(7_000)
    expect(reasons[0]).toBeInstanceOf(ReconcileTimeoutError)
    expect(widgets.records).toMatchObject([{ outcome: 'timeout', durationMs: 5_000 }, { outcome: 'success' }])
    await stop()
  })

  test('one that ignores its signal is abandoned after a grace and cannot write any more', async () => {
    let late: Promise<unknown> | undefined
    const {
      cluster,
      clock,
      stop,
      controller: widgets,
      requests,
    } = await controllerScenario({
      timeoutMs: 5_000,
      graceMs: 2_000,
      reconcile: async ({ client, clock: on, attempt }) => {
        if (attempt > 1) return
        await sleep(20_000, { clock: on })
        late = client.create(Gadgets, gadget('late'))
        late.catch(() => undefined)
      },
    })
    cluster.put(Widgets, widget('a'))
    await clock.advance(7_000)
    expect(widgets.records).toMatchObject([{ outcome: 'timeout' }])
    await clock.advance(1_000)
    expect(requests).toHaveLength(2)
    await clock.advance(20_000)
    await expect(late).rejects.toThrow('cannot write any more')
    expect(cluster.count('create')).toBe(0)
    await stop()
  })

  test('a request that hangs is ended with the reconcile, also when no signal was passed to it', async () => {
    const {
      cluster,
      clock,
      stop,
      controller: widgets,
    } = await controllerScenario({
      timeoutMs: 5_000,
      graceMs: 2_000,
      reconcile: async ({ client, attempt }) => {
        if (attempt === 1) await client.get(Widgets, key('a'))
      },
    })
    cluster.before = ({ verb, signal }) =>
      verb === 'get'
        ? new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
        : undefined
    cluster.put(Widgets, widget('a'))
    await clock.advance(10_000)
    expect(widgets.records.map(({ outcome }) => outcome)).toEqual(['timeout', 'success'])
    await stop()
  })
})

describe('stopping', () => {
  test('reconciles under way get the signal and their grace; nothing new begins', async () => {
    const events: string[] = []
    const {
      cluster,
      clock,
      stopController,
      requests,
      controller: widgets,
    } = await controllerScenario({
      reconcile: async ({ client, signal, clock: on, key: { name } }) => {
        await sleep(5_000, { clock: on, signal }).catch(() => undefined)
        expect(signal.reason).toBeInstanceOf(ControllerStoppingError)
        await client.create(Gadgets, gadget(`${name}-last-write`))
        events.push('finished')
      },
    })
    cluster.put(Widgets, widget('a'))
    cluster.put(Widgets, widget('b'))
    await clock.advance(1_000)
    await clock.runToCompletion(stopController())
    expect(events).toEqual(['finished'])
    expect(requests).toHaveLength(1)
    expect(cluster.objects(Gadgets)).toHaveLength(1)
    cluster.put(Widgets, widget('c'))
    await clock.settle()
    expect(requests).toHaveLength(1)
    expect(widgets.depth).toBe(0)
  })

  test('one that throws because of the stop is not counted as failed', async () => {
    const {
      cluster,
      clock,
      stopController,
      controller: widgets,
    } = await controllerScenario({
      reconcile: async ({ signal, clock: on }) => sleep(60_000, { clock: on, signal }),
    })
    cluster.put(Widgets, widget('a'))
    await clock.settle()
    await stopController()
    expect(widgets.records).toMatchObject([{ outcome: 'aborted' }])
    expect(clock.now()).toBe(Date.UTC(2030, 0, 1))
  })

  test('one that never ends is left behind after the grace', async () => {
    const { cluster, clock, stopController } = await controllerScenario({
      graceMs: 3_000,
      reconcile: () => new Promise(() => undefined),
    })
    cluster.put(Widgets, widget('a'))
    await clock.settle()
    await clock.runToCompletion(stopController(), { maxMs: 3_000 })
  })

  test('while caches still fill ends at once', async () => {
    const { cache, cluster, clock } = cacheScenario()
    const widgets = controller(
      { name: 'w', for: Widgets, reconcile: async () => undefined },
      { cache, client: cluster.client, clock },
    )
    const stopping = new AbortController()
    const running = widgets.run(stopping.signal)
    stopping.abort(new Error('stop'))
    await expect(running).rejects.toThrow('stop')
    expect(clock.pendingTimers).toBe(0)
  })
})

test.each([
  [{ concurrency: 0 }, 'concurrency of the controller w is 0'],
  [{ concurrency: 1.5 }, 'a whole number above 0'],
  [{ timeoutMs: Number.POSITIVE_INFINITY }, 'timeoutMs of the controller w is Infinity'],
  [{ graceMs: -1 }, 'graceMs of the controller w is -1'],
  [{ resyncMs: 0 }, 'or Infinity'],
  [{ resyncMs: Number.NaN }, 'resyncMs of the controller w is NaN'],
  [{ namespaces: [] }, 'at least one namespace'],
])('%j is refused when the controller is made', (options, message) => {
  const { cache, cluster } = cacheScenario()
  const make = () =>
    controller(
      { name: 'w', for: Widgets, reconcile: async () => undefined, ...options },
      { cache, client: cluster.client },
    )
  expect(make).toThrow(message)
})

test('says that it is ready once its caches are filled', async () => {
  const { cache, cluster, clock, run, stop } = cacheScenario()
  const widgets = controller(
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
  const widgets = controller(
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

test('reads of resources that were not declared are refused with the remedy', async () => {
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

test('log lines carry controller, object and run, and are loud only for what a person must look at', async () => {
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
