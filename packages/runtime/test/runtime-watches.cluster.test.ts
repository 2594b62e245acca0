import { type Clock, systemClock } from '@reeve/http'
import {
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type ObjectKey,
  resource,
  type UnknownObject,
} from '@reeve/kube'
import { Cache } from '@reeve/runtime/cache'
import { Controller } from '@reeve/runtime/controller'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

const DEADLINE_MS = 60_000

let world: TestCluster
beforeAll(async () => {
  world = await openTestCluster()
})
afterAll(() => world.close())

/** Twenty times as fast: a kind that is not served is asked for every half a second. */
const fastClock: Clock = {
  now: () => systemClock.now() * 20,
  schedule: (delayMs, callback) => systemClock.schedule(delayMs / 20, callback),
}

const Lamps = resource<UnknownObject>({
  group: 'watches.example.com',
  version: 'v1',
  kind: 'Lamp',
  plural: 'lamps',
  namespaced: true,
})
const lampCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'lamps.watches.example.com' },
  spec: {
    group: 'watches.example.com',
    scope: 'Namespaced',
    names: { kind: 'Lamp', plural: 'lamps', singular: 'lamp', listKind: 'LampList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

test('a kind is watched before its CRD is installed, while it exists, and after it was removed', async () => {
  const { client, namespace } = world
  const cache = new Cache(client, { clock: fastClock })
  const stopping = new AbortController()
  const lamp: ObjectKey = { namespace, name: 'desk' }
  const lamps = Promise.withResolvers<void>()
  const dark = Promise.withResolvers<void>()
  let wasLit = false
  const operator = new Controller(
    {
      name: 'lamps',
      for: { resource: ConfigMaps, namespace },
      reconcile: async ({ key, cache: view, watches }) => {
        if (key.name !== lamp.name || watches.names.length === 0) return
        const isLit = view.get(Lamps, lamp) !== undefined
        if (isLit) lamps.resolve()
        if (wasLit && !isLit) dark.resolve()
        wasLit = isLit
      },
    },
    { cache, client },
  )
  const within = <T>(wanted: Promise<T>, what: string): Promise<T> => {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => reject(new Error(`not in time: ${what} ${JSON.stringify(cache.health())}`)),
      DEADLINE_MS,
    )
    return Promise.race([wanted, promise]).finally(() => clearTimeout(timer))
  }
  const running = Promise.all([cache.run(stopping.signal), operator.run(stopping.signal)])
  try {
    const signal = AbortSignal.timeout(DEADLINE_MS)
    await operator.whenReady(signal)
    const watch = operator.watches.start('lamps', { resource: Lamps, map: ({ metadata }) => [metadata] })
    await watch.whenSynced(signal)
    expect([watch.isServed, cache.health().isHealthy]).toEqual([false, true])

    await client.create(CustomResourceDefinitions, lampCrd)
    const create = async () => {
      for (;;) {
        try {
          const metadata = { ...lamp }
          return await client.create(Lamps, { apiVersion: 'watches.example.com/v1', kind: 'Lamp', metadata })
        } catch (error) {
          signal.throwIfAborted()
          if (!(error instanceof Error && error.message.includes('404'))) throw error
          await new Promise((resolve) => setTimeout(resolve, 50)) // the server serves it when the CRD is established
        }
      }
    }
    await create()
    await within(lamps.promise, 'the lamp is seen')
    expect(watch.isServed).toBe(true)

    await client.delete(CustomResourceDefinitions, { name: 'lamps.watches.example.com' })
    await within(dark.promise, 'the lamp is gone')
    await operator.watches.stop('lamps')
    expect(cache.health().informers.map(({ resource: name }) => name)).toEqual(['configmaps'])
  } finally {
    stopping.abort()
    await running
  }
}, 180_000)
