import { type KubeObject, Nodes, type Stored } from '@reeve/kube'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { controllerScenario } from '../testing/controller-scenario.ts'
import { Gadgets, gadget, type Widget, Widgets, widget } from '../testing/fake-objects.ts'
import { type MappedSource, toItself } from './sources.ts'

const key = (name: string) => ({ namespace: 'ns', name })
const never = new AbortController().signal
const gadgets: MappedSource<Widget> = { resource: Gadgets, map: ({ spec }) => [key(`size-${spec?.size}`)] }

describe('a watch that is started while the controller runs', () => {
  test('reconciles what exists, and every later change, until it is stopped', async () => {
    const { controller, requests, cluster, clock, stop } = await controllerScenario()
    cluster.put(Gadgets, gadget('g', 1))
    const watch = controller.watches.start('gadgets', gadgets)
    expect(watch.isSynced).toBe(false)
    await clock.runToCompletion(watch.whenSynced(never))
    await clock.settle()
    expect(requests.map((request) => request.key.name)).toEqual(['size-1'])
    expect(requests[0]?.cache.get(Gadgets, key('g'))?.spec).toEqual({ size: 1 })
    cluster.put(Gadgets, gadget('g', 2))
    await clock.settle()
    expect(requests.splice(0).map((request) => request.key.name)).toEqual(['size-1', 'size-2', 'size-1'])
    await clock.runToCompletion(controller.watches.stop('gadgets'))
    expect(cluster.watches).toHaveLength(1)
    cluster.put(Gadgets, gadget('g', 3))
    await clock.settle()
    expect(requests).toEqual([])
    expect(controller.watches.names).toEqual([])
    await stop()
  })

  test('is kept when a reconcile starts it again, and causes no reconcile by that', async () => {
    const { requests, cluster, clock, stop, controller } = await controllerScenario(
      {
        reconcile: async ({ watches, key: { name } }) => {
          if (name === 'a') watches.start('gadgets', { resource: Gadgets, map: () => [key('a')] })
        },
      },
      {},
      ({ cluster: fake }) => {
        fake.put(Widgets, widget('a'))
        fake.put(Gadgets, gadget('g', 1))
      },
    )
    await clock.advance(60_000)
    expect(requests).toHaveLength(2)
    controller.enqueue(key('a'))
    await clock.advance(60_000)
    expect(requests).toHaveLength(3)
    expect(cluster.watches).toHaveLength(2)
    await stop()
  })

  test('shares its informer, which stops with the last watch of it', async () => {
    const { controller, cluster, clock, cache, stop } = await controllerScenario()
    controller.watches.start('one', gadgets)
    controller.watches.start('two', { ...gadgets, predicate: () => false })
    controller.watches.start('three', { ...gadgets, labelSelector: 'app=x' })
    await clock.settle()
    expect(cluster.watches).toHaveLength(3)
    await clock.runToCompletion(controller.watches.stop('one'))
    expect(cluster.watches).toHaveLength(3)
    await clock.runToCompletion(Promise.all([controller.watches.stop('two'), controller.watches.stop('three')]))
    expect(cluster.watches).toHaveLength(1)
    expect(cache.health().informers).toHaveLength(1)
    await stop()
  })

  test('is replaced by one of the same name with another selection', async () => {
    const { controller, cluster, clock, requests, stop } = await controllerScenario()
    cluster.put(Gadgets, gadget('g', 1, { labels: { app: 'x' } }))
    controller.watches.start('it', { ...gadgets, labelSelector: 'app=y' })
    await clock.settle()
    expect(requests).toEqual([])
    controller.watches.start('it', { ...gadgets, labelSelector: 'app=x' })
    await clock.settle()
    expect(requests.map((request) => request.key.name)).toEqual(['size-1'])
    expect(cluster.watches).toHaveLength(2)
    await stop()
  })

  test('of a kind that is not served waits for it, and ends with the controller', async () => {
    const { controller, requests, cluster, clock, cache, stopController, stop } = await controllerScenario()
    let isServed = false
    cluster.before = ({ verb, resource }) => {
      if (resource === 'gadgets' && !isServed) throw cluster.refuse(verb, 404)
    }
    const watch = controller.watches.start('gadgets', gadgets)
    await clock.runToCompletion(watch.whenSynced(never))
    await clock.advance(120_000)
    expect([watch.isServed, cache.health().isHealthy, requests.length]).toEqual([false, true, 0])
    isServed = true
    cluster.put(Gadgets, gadget('g', 1))
    await clock.advance(10_000)
    expect(watch.isServed).toBe(true)
    expect(requests.map((request) => request.key.name)).toEqual(['size-1'])
    await clock.runToCompletion(stopController())
    expect(cluster.watches).toHaveLength(1)
    expect(cache.health().informers).toHaveLength(1)
    await stop()
  })

  test('a thousand times, and stopped each time, leaves nothing behind', async () => {
    const { controller, cluster, clock, cache, stop } = await controllerScenario()
    for (let round = 0; round < 1_000; round++) {
      controller.watches.start('it', { ...gadgets, labelSelector: `round=${round}` })
      if (round % 2 === 0) await clock.runToCompletion(controller.watches.stop('it'))
    }
    await clock.runToCompletion(controller.watches.stop('it'))
    expect(cluster.watches).toHaveLength(1)
    expect(cache.health().informers).toHaveLength(1)
    await stop()
  })

  test('beyond the limit of informers fails with the option to raise', async () => {
    const { controller, clock, stop } = await controllerScenario()
    const start = () => {
      for (let at = 0; at < 500; at++) controller.watches.start(`${at}`, { ...gadgets, labelSelector: `at=${at}` })
    }
    expect(start).toThrow('raise maxInformers')
    await clock.settle()
    await stop()
  })

  test('has a mapper and a predicate of the type of its resource', async () => {
    const { controller, clock, stop } = await controllerScenario()
    controller.watches.start('typed', {
      resource: Nodes,
      map: (node) => {
        expectTypeOf(node.spec?.podCIDR).toEqualTypeOf<string | undefined>()
        // @ts-expect-error: no such field of a Node
        return [key(node.spec?.podCidr)]
      },
      predicate: ({ object }) => object.spec?.unschedulable !== true,
    })
    // @ts-expect-error: without a mapper it is not known what to reconcile
    const untyped = () => controller.watches.start('nothing', { resource: Nodes })
    expect(untyped).toBeTypeOf('function')
    expectTypeOf(toItself).toExtend<MappedSource<Stored<KubeObject>>['map']>()
    await clock.settle()
    await stop()
  })
})
