import { sleep } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { ConfigMaps, type ObjectKey } from '@reeve/kube'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryCluster } from '../../test/support/memory-cluster.ts'
import { fenceWrites } from '../client/leader-fence.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { ShardElector } from './shard-elector.ts'
import { shardOf } from './shard-of.ts'
import type { ShardTerm } from './shard-term.ts'

const lease = { namespace: 'shop', name: 'operator' }
const FAULTY_MS = 240_000
/** Above the time after which a dead replica is noticed, its shards are taken, and a hand-over ends. */
const QUIET_MS = 120_000

/** Chances per request, and the longest a request is in flight: below the 5 s that the lease times leave for it. */
const weather = fc.record({
  seed: fc.integer(),
  shards: fc.integer({ min: 1, max: 6 }),
  failure: fc.double({ min: 0, max: 0.3, noNaN: true }),
  lostAnswer: fc.double({ min: 0, max: 0.3, noNaN: true }),
  silence: fc.double({ min: 0, max: 0.1, noNaN: true }),
  maxRequestMs: fc.integer({ min: 0, max: 4_500 }),
  maxAnswerMs: fc.integer({ min: 0, max: 9_000 }),
  /** At first the third replica divides objects into one shard more, as one of another release may. */
  hasOtherLayout: fc.boolean(),
})
type Weather = typeof weather extends fc.Arbitrary<infer T> ? T : never

/** A key of a shard. */
function keyIn(shard: number, shards: number): ObjectKey {
  for (let at = 0; ; at++) if (shardOf({ name: `key-${at}` }, shards) === shard) return { name: `key-${at}` }
}

/** A replica that works on its shards twice a second, sometimes stops or crashes, and starts over. */
async function replica(name: string, cluster: MemoryCluster, clock: SimulatedClock, given: Weather, end: AbortSignal) {
  const random = seededRandom(given.seed ^ name.charCodeAt(0))
  const faultyUntilMs = clock.now() + FAULTY_MS
  const isFaulty = () => clock.now() < faultyUntilMs
  for (let life = 0; !end.aborted; life++) {
    const identity = `${name}${life}`
    const client = cluster.client(identity, {
      before: async () => {
        if (!isFaulty()) return
        await sleep(random() * given.maxRequestMs, { clock })
        if (random() < given.silence) await new Promise(() => undefined)
        if (random() < given.failure) throw new Error('unavailable')
      },
      after: async () => {
        if (!isFaulty()) return
        await sleep(random() * given.maxAnswerMs, { clock })
        if (random() < given.lostAnswer) throw new Error('connection reset')
      },
    })
    const isOther = name === 'c' && given.hasOtherLayout && isFaulty()
    const shards = isOther ? given.shards + 1 : given.shards
    const elector = new ShardElector(client, { shards, lease, identity, clock, random })
    const numbers = new Map<ShardTerm, number>()
    const work = async (term: ShardTerm) => {
      const leave = term.enter()
      if (!numbers.has(term)) numbers.set(term, numbers.size)
      const metadata = {
        namespace: 'shop',
        name: [shards, term.shard, identity, numbers.get(term), clock.now()].join('.'),
      }
      const writer = fenceWrites(client, term.leadership)
      // Failed and rejected writes are expected: what counts is which writes took effect.
      await writer.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata }).catch(() => undefined)
      leave()
    }
    elector.start()
    while (!end.aborted && (isOther ? isFaulty() : true) && !(isFaulty() && random() < 0.01)) {
      for (const shard of elector.held) {
        const term = elector.termOf(keyIn(shard, shards))
        if (term !== undefined) void work(term)
      }
      await sleep(500, { clock, signal: end }).catch(() => undefined) // the loop ends it
    }
    const deadline = new AbortController()
    clock.schedule(5_000, () => deadline.abort(new Error('grace is over')))
    await elector.stop(random() < 0.3 ? AbortSignal.abort(new Error('killed')) : deadline.signal)
  }
}

test('under any network faults no object is worked on by two replicas, and all are once it is stable', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(weather, async (given) => {
      const clock = new SimulatedClock()
      const cluster = new MemoryCluster(clock)
      const end = new AbortController()
      const replicas = ['a', 'b', 'c'].map((name) => replica(name, cluster, clock, given, end.signal))
      await clock.advance(FAULTY_MS + QUIET_MS)
      const writes = cluster.writes
        .filter(({ resource }) => resource === 'configmaps')
        .map(({ name, atMs }) => {
          const [shards = '', shard = '', identity = '', number] = name.split('.')
          return { shards, shard, identity, term: `${shards}.${shard} of ${identity}, term ${number}`, atMs }
        })
      const calm = writes.filter(({ atMs }) => atMs > clock.now() - 20_000)
      end.abort(new Error('end of the test'))
      await clock.runToCompletion(Promise.all(replicas))

      // From its first to its last write a term is alone with its shard, and with its way to divide objects.
      for (const term of new Set(writes.map((write) => write.term))) {
        const first = writes.findIndex((write) => write.term === term)
        const last = writes.findLastIndex((write) => write.term === term)
        const { shard, shards } = writes[first] ?? { shard: '', shards: '' }
        const during = writes.slice(first, last).filter((write) => write.shards !== shards || write.shard === shard)
        expect(during.filter((write) => write.term !== term)).toEqual([])
      }
      // Everything is worked on, by replicas that have about the same number of shards.
      expect(new Set(calm.map(({ shard }) => shard)).size).toBe(given.shards)
      const shares = ['a', 'b', 'c'].map(
        (name) => new Set(calm.filter(({ identity }) => identity.startsWith(name)).map(({ shard }) => shard)).size,
      )
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
    }),
    {
      numRuns: Number(process.env.REEVE_RUNS ?? 15),
      // A request of a term that was lost arrived in the next term of the same replica.
      examples: [
        [
          {
            seed: 2147483372,
            shards: 4,
            failure: 0,
            lostAnswer: 0,
            silence: 0,
            maxRequestMs: 4489,
            maxAnswerMs: 13,
            hasOtherLayout: false,
          },
        ],
      ],
    },
  )
})
