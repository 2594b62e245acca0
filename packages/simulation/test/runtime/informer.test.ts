import { type ConfigMap, ConfigMaps, type Stored } from '@reeve/kube'
import { Cache } from '@reeve/runtime/cache'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createWorld, type EventFate, type OperatorUnderTest, type RequestFate } from '../../src/index.ts'

const name = fc.constantFrom('a', 'b', 'c')
const eventFate = fc.constantFrom<EventFate>(
  { type: 'expire' },
  { type: 'stall-and-expire', stallMs: 5_000 },
  { type: 'delay', delayMs: 3_000 },
  { type: 'silence' },
)
const requestFate = fc.constantFrom<RequestFate>(
  { type: 'reset' },
  { type: 'reject', code: 500, reason: 'InternalError' },
  { type: 'reject', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 2 },
  { type: 'reject', code: 410, reason: 'Expired' },
  { type: 'delay', delayMs: 4_000 },
)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('put' as const), name, value: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('event' as const), fate: eventFate }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('request' as const), fate: requestFate }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 2_000, 80_000) }) },
)

/** An operator that only watches, and the calls of its handlers. */
function onlooker() {
  const told = new Map<string, Stored<ConfigMap>>()
  const contradictions: string[] = []
  let cache: Cache | undefined
  const operator: OperatorUnderTest = {
    name: 'onlooker',
    crds: [],
    start: ({ clock, random, logger }, client) => {
      const own = new Cache(client, { clock, random, logger })
      cache = own
      own.informer(ConfigMaps, { namespace: 'default', labelSelector: 'explored=yes' }).addHandler({
        added: (object) => {
          if (told.has(object.metadata.name)) contradictions.push(`${object.metadata.name} added twice`)
          told.set(object.metadata.name, object)
        },
        modified: (_, object) => {
          if (!told.has(object.metadata.name))
            contradictions.push(`${object.metadata.name} changed before it was added`)
          told.set(object.metadata.name, object)
        },
        deleted: (object) => {
          if (!told.delete(object.metadata.name)) contradictions.push(`${object.metadata.name} deleted twice`)
        },
      })
      return own
    },
  }
  const seen = () =>
    (cache?.list(ConfigMaps, { namespace: 'default' }) ?? []).map(({ metadata, data }) => [metadata.name, data?.value])
  return { operator, told, contradictions, seen }
}

test('the cache equals the server after any interleaving of events, 410s, silence and reconnects', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20, size: 'max' }), async (steps) => {
      const events: EventFate[] = []
      const requests: RequestFate[] = []
      const world = await createWorld({
        seed: 1,
        disturbance: {
          onEvent: () => events.shift() ?? { type: 'deliver' },
          onRequest: () => requests.shift() ?? { type: 'pass' },
        },
      })
      const { operator, told, contradictions, seen } = onlooker()
      world.start(operator)
      await world.clock.advance(1_000)
      const { client, put } = world.user
      for (const action of steps) {
        if (action.do === 'put') await put(configMap(action.name, action.value))
        else if (action.do === 'delete')
          await client.delete(ConfigMaps, { namespace: 'default', name: action.name }).catch(() => undefined)
        else if (action.do === 'event') events.push(action.fate)
        else if (action.do === 'request') requests.push(action.fate)
        else if (action.do === 'forget') world.cluster.compact()
        else await world.clock.advance(action.ms)
      }
      events.length = 0
      requests.length = 0
      // Longer than the silence after which a stream counts as dead, and the longest back-off after that.
      await world.clock.advance(180_000)
      const { items } = await client.list(ConfigMaps, { namespace: 'default', labelSelector: 'explored=yes' })
      const truth = items.map(({ metadata, data }) => [metadata.name, data?.value])
      await world.close()
      expect(seen().toSorted()).toEqual(truth.toSorted())
      expect([...told.values()].map(({ metadata, data }) => [metadata.name, data?.value]).toSorted()).toEqual(
        seen().toSorted(),
      )
      expect(contradictions).toEqual([])
    }),
    { numRuns: 25, seed: 1 },
  )
})

function configMap(named: string, value: number) {
  const metadata = { namespace: 'default', name: named, labels: { explored: 'yes' } }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value: String(value) } } as const
}
