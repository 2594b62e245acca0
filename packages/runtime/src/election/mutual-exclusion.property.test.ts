import { sleep } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { ConfigMaps, Leases } from '@reeve/kube'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryCluster } from '../../test/support/memory-cluster.ts'
import { fenceWrites } from '../client/leader-fence.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { LeaderElector } from './leader-election.ts'

const lease = { namespace: 'shop', name: 'operator' }
const FAULTY_MS = 300_000
const QUIET_MS = 60_000

/** Chances per request, and the longest a request is in flight: below the 5 s that the lease times leave for it. */
interface Weather {
  readonly seed: number
  readonly failure: number
  readonly lostAnswer: number
  readonly silence: number
  readonly maxRequestMs: number
  readonly maxAnswerMs: number
}

const weather = fc.record({
  seed: fc.integer(),
  failure: fc.double({ min: 0, max: 0.3, noNaN: true }),
  lostAnswer: fc.double({ min: 0, max: 0.3, noNaN: true }),
  silence: fc.double({ min: 0, max: 0.2, noNaN: true }),
  maxRequestMs: fc.integer({ min: 0, max: 4_500 }),
  maxAnswerMs: fc.integer({ min: 0, max: 9_000 }),
})

/** A replica that competes, writes twice a second while it leads, sometimes resigns or crashes, and starts over. */
async function replica(
  name: string,
  cluster: MemoryCluster,
  clock: SimulatedClock,
  conditions: Weather,
  end: AbortSignal,
) {
  const random = seededRandom(conditions.seed ^ name.charCodeAt(0))
  const isFaulty = () => clock.now() < startMs + FAULTY_MS
  const startMs = clock.now()
  for (let term = 0; !end.aborted; term++) {
    const identity = `${name}${term}`
    const client = cluster.client(identity, {
      before: async () => {
        if (!isFaulty()) return
        await sleep(random() * conditions.maxRequestMs, { clock })
        if (random() < conditions.silence) await new Promise(() => undefined)
        if (random() < conditions.failure) throw new Error('unavailable')
      },
      after: async () => {
        if (!isFaulty()) return
        await sleep(random() * conditions.maxAnswerMs, { clock })
        if (random() < conditions.lostAnswer) throw new Error('connection reset')
      },
    })
    const elector = new LeaderElector(client, { lease, identity, clock, random })
    const writer = fenceWrites(client, elector.leadership)
    try {
      await elector.acquire(end)
      while (elector.leadership.isLeader && !end.aborted && random() > 0.02) {
        const key = { namespace: 'shop', name: `${identity}-${clock.now()}` }
        // Failed and rejected writes are expected: what counts is which writes took effect.
        void writer.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }).catch(() => undefined)
        await sleep(500, { clock, signal: end })
      }
      const deadline = new AbortController()
      clock.schedule(5_000, () => deadline.abort(new Error('grace is over')))
      await elector.resign(deadline.signal)
    } catch (error) {
      if (!end.aborted) throw error
      await elector.resign(AbortSignal.abort(error))
    }
  }
}

test('under any network faults, writes of two terms never overlap, and there is a leader once it is stable', async () => {
  await fc.assert(
    fc.asyncProperty(weather, async (conditions) => {
      const clock = new SimulatedClock()
      const cluster = new MemoryCluster(clock)
      const end = new AbortController()
      const replicas = ['a', 'b', 'c'].map((name) => replica(name, cluster, clock, conditions, end.signal))
      await clock.advance(FAULTY_MS + QUIET_MS)
      const calmWrites = cluster.writes.filter(
        ({ resource, atMs }) => resource === 'configmaps' && atMs > clock.now() - 30_000,
      )
      end.abort(new Error('end of the test'))
      await clock.runToCompletion(Promise.all(replicas))

      const writers = cluster.writes.filter(({ resource }) => resource === 'configmaps').map(({ client }) => client)
      const turns = writers.filter((writer, index) => writer !== writers[index - 1])
      expect(turns).toEqual([...new Set(turns)])
      expect(calmWrites.length).toBeGreaterThan(0)
      expect(cluster.peek(Leases, lease)).toBeDefined()
    }),
    { numRuns: 40 },
  )
})
