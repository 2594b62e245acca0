import { SimulatedClock } from '@reeve/http/testing'
import { Leases } from '@reeve/kube'
import { expect, test } from 'vitest'
import { MemoryCluster } from '../../test/support/memory-cluster.ts'
import { ShardElector } from './shard-elector.ts'

const lease = { namespace: 'shop', name: 'operator' }
const never = new AbortController().signal

/** Replicas of two shards. */
function setUp() {
  const clock = new SimulatedClock()
  const cluster = new MemoryCluster(clock)
  const start = (identity: string) => {
    const client = cluster.client(identity)
    const elector = new ShardElector(client, { shards: 2, lease, identity, clock, random: () => 0.5 })
    elector.start()
    return elector
  }
  const holder = (shard: number) =>
    cluster.peek(Leases, { ...lease, name: `operator-shard-${shard}` })?.spec?.holderIdentity
  return { clock, cluster, start, holder }
}

/** A key of the shard that is handed over first. */
const key = { name: 'web' }

test('a shard is handed over when the last reconcile has ended, which may go on until then', async () => {
  const { clock, start, holder } = setUp()
  const first = start('first')
  await clock.advance(1_000)
  expect(first.held).toEqual([0, 1])
  const terms = [0, 1].map((shard) => {
    const found = ['a', 'b', 'c', 'd', 'e', 'f'].find((name) => first.shardOf({ name }) === shard)
    return first.termOf({ name: found ?? '' })
  })
  const leave = terms[1]?.enter()
  const second = start('second')
  await clock.advance(20_000)
  expect([first.held, second.held, holder(1)]).toEqual([[0], [], 'first'])
  expect([terms[1]?.signal.aborted, terms[1]?.leadership.isLeader]).toEqual([false, true])
  leave?.()
  await clock.advance(5_000)
  expect([first.held, second.held]).toEqual([[0], [1]])
  await clock.runToCompletion(Promise.all([first.stop(never), second.stop(never)]))
})

test('a reconcile that does not end in time is aborted, and the lease expires', async () => {
  const { clock, start, holder } = setUp()
  const first = start('first')
  await clock.advance(1_000)
  const name = ['a', 'b', 'c', 'd', 'e', 'f'].find((one) => first.shardOf({ name: one }) === 1) ?? ''
  const term = first.termOf({ name })
  const leave = term?.enter()
  const second = start('second')
  await clock.advance(35_000)
  expect([term?.signal.aborted, term?.leadership.isLeader, holder(1)]).toEqual([true, false, 'first'])
  // The other one leaves: the first may not take the shard again while its reconcile goes on.
  await clock.runToCompletion(second.stop(never))
  await clock.advance(60_000)
  expect(first.held).toEqual([0])
  leave?.()
  await clock.advance(10_000)
  expect(first.held).toEqual([0, 1])
  await clock.runToCompletion(first.stop(never))
})

test('a stop ends at its deadline, also while a shard is being handed over', async () => {
  const { clock, start } = setUp()
  const first = start('first')
  await clock.advance(1_000)
  first.termOf(key)?.enter()
  const second = start('second')
  await clock.advance(5_000)
  const deadline = new AbortController()
  clock.schedule(3_000, () => deadline.abort(new Error('too long')))
  const before = clock.now()
  await clock.runToCompletion(first.stop(deadline.signal))
  expect(clock.now() - before).toBeLessThanOrEqual(3_000)
  await clock.runToCompletion(second.stop(never))
})
