import { sleep } from '@reeve/http'
import { describe, expect, test } from 'vitest'
import { cacheScenario } from '../testing/cache-scenario.ts'
import { controllerScenario } from '../testing/controller-scenario.ts'
import { Gadgets, gadget, Widgets, widget } from '../testing/fake-objects.ts'
import { Controller } from './controller.ts'
import { ControllerStoppingError, ReconcileTimeoutError } from './controller-error.ts'

const key = (name: string) => ({ namespace: 'ns', name })

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

  test('one that ignores its signal is abandoned after a grace period and can no longer write', async () => {
    let late: Promise<unknown> | undefined
    const {
      cluster,
      clock,
      stop,
      controller: widgets,
      requests,
    } = await controllerScenario({
      timeoutMs: 5_000,
      reconcile: async ({ client, clock: on, attempt }) => {
        if (attempt > 1) return
        await sleep(20_000, { clock: on })
        late = client.create(Gadgets, gadget('late'))
        late.catch(() => undefined)
      },
    })
    cluster.put(Widgets, widget('a'))
    await clock.advance(15_000)
    expect(widgets.records).toMatchObject([{ outcome: 'timeout' }])
    await clock.advance(1_000)
    expect(requests).toHaveLength(2)
    await clock.advance(20_000)
    await expect(late).rejects.toThrow('can no longer write')
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
      reconcile: async ({ client, attempt }) => {
        if (attempt === 1) await client.get(Widgets, key('a'))
      },
    })
    cluster.before = ({ verb, signal }) =>
      verb === 'get'
        ? new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
        : undefined
    cluster.put(Widgets, widget('a'))
    await clock.advance(20_000)
    expect(widgets.records.map(({ outcome }) => outcome)).toEqual(['timeout', 'success'])
    await stop()
  })
})

describe('stopping', () => {
  test('reconciles in progress get the signal and a grace period; no new one begins', async () => {
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
      reconcile: () => new Promise(() => undefined),
    })
    cluster.put(Widgets, widget('a'))
    await clock.settle()
    await clock.runToCompletion(stopController(), { maxMs: 10_000 })
  })

  test('while caches still sync returns immediately', async () => {
    const { cache, cluster, clock } = cacheScenario()
    const widgets = new Controller(
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
