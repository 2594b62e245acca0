import { Leases } from '@reeve/kube'
import { LeaderElector } from '@reeve/runtime/election'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

let world: TestCluster
beforeAll(async () => {
  world = await openTestCluster()
})
afterAll(() => world.close())

const never = new AbortController().signal
const times = { leaseDurationMs: 1_500, renewDeadlineMs: 1_000, retryPeriodMs: 100 }

function candidate(name: string, identity: string): LeaderElector {
  return new LeaderElector(world.client, { lease: { namespace: world.namespace, name }, identity, ...times })
}

test('the server accepts every write to the Lease: taking, renewing, giving back, taking over', async () => {
  const key = { namespace: world.namespace, name: 'handover' }
  const [first, second] = [candidate(key.name, 'first'), candidate(key.name, 'second')]
  await first.acquire(never)
  const taken = await world.client.get(Leases, key)
  expect(taken.spec).toMatchObject({ holderIdentity: 'first', leaseDurationSeconds: 2, leaseTransitions: 0 })
  const waiting = second.acquire(never)
  expect(await first.resign(never)).toEqual({ isReleased: true, writesInFlight: 0 })
  await waiting
  const takenOver = await world.client.get(Leases, key)
  expect(takenOver.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 })
  expect(takenOver.metadata.uid).toBe(taken.metadata.uid)
  await second.resign(never)
})

test('of many candidates that start together exactly one leads', async () => {
  const candidates = Array.from({ length: 8 }, (_, index) => candidate('rush', `candidate-${index}`))
  const stop = new AbortController()
  const races = candidates.map((elector) => elector.acquire(stop.signal).then(() => elector))
  const winner = await Promise.race(races)
  expect(candidates.filter(({ leadership }) => leadership.isLeader)).toEqual([winner])
  stop.abort()
  await Promise.allSettled(races)
  await Promise.all(candidates.map((elector) => elector.resign(never)))
})
