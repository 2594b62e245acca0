import { ConfigMaps, Nodes } from '@reeve/kube'
import { describe, expect, test } from 'vitest'
import { cacheScenario } from '../testing/cache-scenario.ts'
import { controllerScenario } from '../testing/controller-scenario.ts'
import { Gadgets, gadget, Widgets, widget } from '../testing/fake-objects.ts'
import { Controller } from './controller.ts'
import { generationChanged } from './predicates.ts'
import { watch } from './sources.ts'

const key = (name: string) => ({ namespace: 'ns', name })
const ownedBy = (name: string) => ({
  ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Widget', name, uid: `uid-${name}`, controller: true }],
})

describe('what causes a reconcile', () => {
  test('everything that exists when it starts, with low priority', async () => {
    const { requests, stop } = await controllerScenario({}, {}, ({ cluster }) => {
      cluster.put(Widgets, widget('a'))
      cluster.put(Widgets, widget('b'))
    })
    expect(requests.map((request) => request.key)).toEqual([key('a'), key('b')])
    expect(requests[0]?.reasons).toEqual([{ event: 'added', kind: 'Widget', namespace: 'ns', name: 'a' }])
    expect(requests[0]?.object?.metadata.name).toBe('a')
    await stop()
  })

  test('changes and deletions of its own resource, and of objects it owns', async () => {
    const { requests, cluster, clock, stop } = await controllerScenario({ owns: [Gadgets] })
    const steps: [() => void, string][] = [
      [() => cluster.put(Widgets, widget('a')), 'added Widget'],
      [() => cluster.put(Widgets, widget('a', 2)), 'modified Widget'],
      [() => cluster.put(Gadgets, gadget('child', 1, ownedBy('a'))), 'added Gadget'],
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

  test('whatever a mapper returns, of the old and the new state', async () => {
    const { requests, cluster, clock, stop } = await controllerScenario({
      watches: [watch({ resource: Gadgets, map: ({ spec }) => [key(`size-${spec?.size}`)] })],
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
    const reconciled: string[] = []
    const widgets = new Controller(
      {
        name: 'w',
        for: Widgets,
        watches: [
          watch({ resource: ConfigMaps, namespace: 'ns', map: ({ data }) => [key(data?.widget ?? '')] }),
          watch({
            resource: Nodes,
            map: ({ spec }) => [key(spec?.podCIDR ?? '')],
            predicate: ({ object }) => !object.spec?.unschedulable,
          }),
        ],
        reconcile: async ({ key: { name } }) => {
          reconciled.push(name)
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
    expect(reconciled).toEqual(['from-config', 'from-node'])
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
    const reconciled = () =>
      requests.splice(0).map((request) => `${request.key.namespace}/${request.object?.metadata.name}`)
    expect(reconciled().toSorted()).toEqual(['ns/a', 'two/b'])
    await clock.advance(66_000)
    expect(reconciled().toSorted()).toEqual(['ns/a', 'two/b'])
    widgets.enqueue({ namespace: 'three', name: 'c' })
    await clock.settle()
    expect(reconciled()).toEqual([])
    await stop()
  })

  test('nothing that a predicate filters out', async () => {
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

  test('many changes together as one', async () => {
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
