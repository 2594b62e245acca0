import { isDeepStrictEqual } from 'node:util'
import { ConnectionError, type Stored } from '@reeve/kube'
import fc from 'fast-check'
import { test } from 'vitest'
import { trackWrites } from '../client/own-writes.ts'
import { cacheScenario } from '../testing/cache-scenario.ts'
import { type Widget, Widgets, widget } from '../testing/fake-objects.ts'

const NAMES = ['a', 'b', 'c']
const name = fc.constantFrom(...NAMES)
const size = fc.integer({ min: 1, max: 9 })

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('put', 'ownApply'), name, size }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('remove', 'ownDelete'), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('hold', 'release', 'releaseOne', 'bookmark') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('break', 'end', 'silence', 'expire', 'expireNow') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1, 600, 20_000, 80_000) }) },
)

/** The state that handlers know, checked for consistency with every call. */
function mirror() {
  const objects = new Map<string, Stored<Widget>>()
  const fail = (message: string) => {
    throw new Error(`handlers were called ${message}`)
  }
  const problems: Error[] = []
  const guard = (check: () => void) => {
    try {
      check()
    } catch (error) {
      problems.push(error instanceof Error ? error : new Error(String(error)))
    }
  }
  const id = (object: Stored<Widget>) => object.metadata.name
  return {
    objects,
    problems,
    handler: {
      added: (object: Stored<Widget>) =>
        guard(() => {
          if (objects.has(id(object))) fail(`twice of ${id(object)}`)
          objects.set(id(object), object)
        }),
      modified: (previous: Stored<Widget>, object: Stored<Widget>) =>
        guard(() => {
          if (objects.get(id(object)) !== previous) fail(`of a change of ${id(object)} from what it was not`)
          if (previous.metadata.resourceVersion === object.metadata.resourceVersion) fail('of no change')
          objects.set(id(object), object)
        }),
      deleted: (object: Stored<Widget>) =>
        guard(() => {
          if (objects.get(id(object))?.metadata.uid !== object.metadata.uid)
            fail(`twice that ${id(object)} was deleted`)
          objects.delete(id(object))
        }),
    },
  }
}

test.each(['offered', 'refused'] as const)(
  'whatever happens to its connections, the cache ends up equal to the server (streaming %s)',
  async (streaming) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25, size: 'max' }), async (steps) => {
        const { clock, cluster, cache, start, stop } = cacheScenario({ streaming, cache: { pageSize: 2 } })
        const widgets = cache.informer(Widgets)
        const client = trackWrites(cluster.client, cache)
        const told = mirror()
        widgets.addHandler(told.handler)
        await start()

        const perform = async (action: { do: string; name?: string; size?: number; ms?: number }) => {
          const key = { namespace: 'ns', name: action.name ?? 'a' }
          const watch = cluster.watches[0]
          switch (action.do) {
            case 'put':
              cluster.put(Widgets, widget(key.name, action.size))
              break
            case 'remove':
              cluster.remove(Widgets, key)
              break
            case 'ownApply': {
              const written = await client.apply(Widgets, widget(key.name, action.size))
              if (!isDeepStrictEqual(widgets.get(key), written)) throw new Error('an own write is not visible')
              break
            }
            case 'ownDelete': {
              const seen = widgets.get(key)
              if (seen === undefined) break
              const { uid } = seen.metadata
              // The object may have been replaced meanwhile; then the server correctly rejects the write.
              const answer = await client.delete(Widgets, key, { preconditions: { uid } }).catch(() => undefined)
              if (answer !== undefined && widgets.get(key) !== undefined)
                throw new Error('an own deletion is not visible')
              break
            }
            case 'hold':
              watch?.hold()
              break
            case 'release':
              watch?.release()
              break
            case 'releaseOne':
              watch?.release(1)
              break
            case 'bookmark':
              cluster.bookmark()
              break
            case 'break':
              watch?.fail(new ConnectionError('connection reset', 'response'))
              break
            case 'end':
              watch?.end()
              break
            case 'silence':
              watch?.fallSilent()
              break
            case 'expire':
              cluster.compact()
              break
            case 'expireNow':
              cluster.compact()
              watch?.fail(cluster.refuse('watch', 410, 'Expired'))
              break
            default:
              await clock.advance(action.ms ?? 1)
          }
        }
        for (const action of steps) await perform(action)

        for (const watch of cluster.watches) watch.release()
        for (let minute = 0; minute < 4; minute++) {
          await clock.advance(60_000)
          cluster.bookmark()
        }
        await clock.settle()
        const byName = (objects: readonly Stored<Widget>[]) => new Map(objects.map((o) => [o.metadata.name, o]))
        const truth = byName(cluster.objects(Widgets))
        if (!isDeepStrictEqual(byName(widgets.list()), truth)) throw new Error('the cache differs from the server')
        if (!isDeepStrictEqual(told.objects, truth)) throw new Error('handlers have another state than the server')
        for (const problem of told.problems) throw problem
        const health = widgets.health()
        if (health.ownWrites > 0 || !health.isHealthy) throw new Error(`not settled: ${JSON.stringify(health)}`)
        await stop()
      }),
      { numRuns: 120 },
    )
  },
  30_000,
)
