import { sleep } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { ConfigMaps, type KubeClient, Leases } from '@reeve/kube'
import { expect, test } from 'vitest'
import { type Faults, MemoryCluster } from '../../test/support/memory-cluster.ts'
import { fenceWrites } from '../client/leader-fence.ts'
import { createMetricsRegistry } from '../metrics/registry.ts'
import { ElectionConfigError, LeadershipLostError, NotLeaderError } from './election-error.ts'
import { LeaderElector } from './leader-election.ts'

const lease = { namespace: 'shop', name: 'operator' }
const never = new AbortController().signal

function world() {
  const clock = new SimulatedClock()
  return { clock, cluster: new MemoryCluster(clock) }
}

/** A candidate whose network can be cut: requests then never reach the server, and responses never arrive. */
function candidate({ clock, cluster }: ReturnType<typeof world>, identity: string, faults: Faults = {}) {
  let isCut = false
  const cut = () => (isCut ? new Promise<void>(() => undefined) : undefined)
  const client = cluster.client(identity, {
    before: async (call) => {
      await cut()
      await faults.before?.(call)
    },
    after: async (call) => {
      await faults.after?.(call)
      await cut()
    },
  })
  const elector = new LeaderElector(client, { lease, identity, clock, random: () => 0.5 })
  return {
    elector,
    client,
    writer: fenceWrites(client, elector.leadership),
    partition: (cutNow = true) => {
      isCut = cutNow
    },
    isLeader: () => elector.leadership.isLeader,
  }
}

const write = (client: KubeClient, name: string) =>
  client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name } })

test('the first candidate creates the lease and leads immediately', async () => {
  const { clock, cluster } = world()
  const a = candidate({ clock, cluster }, 'a')
  await clock.runToCompletion(a.elector.acquire(never))
  expect(a.isLeader()).toBe(true)
  expect(cluster.peek(Leases, lease)?.spec).toEqual({
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2030-01-01T00:00:00.000000Z',
    renewTime: '2030-01-01T00:00:00.000000Z',
    leaseTransitions: 0,
  })
})

test('a quiet leader costs one request per retry period', async () => {
  const { clock, cluster } = world()
  const a = candidate({ clock, cluster }, 'a')
  await clock.runToCompletion(a.elector.acquire(never))
  const before = cluster.writes.length
  await clock.advance(60_000)
  expect(cluster.writes.length - before).toBe(30)
  expect(a.isLeader()).toBe(true)
})

test('a standby waits while the leader renews', async () => {
  const { clock, cluster } = world()
  const [a, b] = [candidate({ clock, cluster }, 'a'), candidate({ clock, cluster }, 'b')]
  await clock.runToCompletion(a.elector.acquire(never))
  void b.elector.acquire(never)
  await clock.advance(600_000)
  expect([a.isLeader(), b.isLeader()]).toEqual([true, false])
  await expect(write(b.writer, 'x')).rejects.toThrow(NotLeaderError)
})

test('when the leader is killed a standby takes over after the lease has not been renewed for its duration', async () => {
  const { clock, cluster } = world()
  const [a, b] = [candidate({ clock, cluster }, 'a'), candidate({ clock, cluster }, 'b')]
  await clock.runToCompletion(a.elector.acquire(never))
  void b.elector.acquire(never)
  await clock.advance(5_000)
  a.partition()
  const killedAt = clock.now()
  await clock.runUntil(b.isLeader)
  const tookMs = clock.now() - killedAt
  expect(tookMs).toBeGreaterThan(13_000)
  expect(tookMs).toBeLessThan(20_000)
  expect(cluster.peek(Leases, lease)?.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
})

test('a partitioned leader stops writing before another replica may start', async () => {
  const { clock, cluster } = world()
  const [a, b] = [candidate({ clock, cluster }, 'a'), candidate({ clock, cluster }, 'b')]
  await clock.runToCompletion(a.elector.acquire(never))
  void b.elector.acquire(never)
  await clock.advance(5_000)
  a.partition()
  await clock.runUntil(() => !a.isLeader())
  expect(b.isLeader()).toBe(false)
  expect(a.elector.leadershipSignal.aborted).toBe(true)
  expect(a.elector.leadershipSignal.reason).toBeInstanceOf(LeadershipLostError)
  const stoppedAt = clock.now()
  a.partition(false)
  await expect(write(a.writer, 'late')).rejects.toThrow(NotLeaderError)
  await clock.runUntil(b.isLeader)
  expect(clock.now() - stoppedAt).toBeGreaterThanOrEqual(5_000)
})

test('a write in progress when leadership ends is aborted', async () => {
  const { clock, cluster } = world()
  const a = candidate({ clock, cluster }, 'a')
  await clock.runToCompletion(a.elector.acquire(never))
  a.partition()
  const outcome = write(a.writer, 'slow').catch((error: unknown) => error)
  await clock.runUntil(() => !a.isLeader())
  expect(await outcome).toBeInstanceOf(NotLeaderError)
})

test('no write is allowed at the deadline even when the timer that ends the term is late', async () => {
  const { clock, cluster } = world()
  let blockedMs = 0
  // An event loop that is blocked: time has passed, no timer has fired.
  const blocked = { now: () => clock.now() + blockedMs, schedule: clock.schedule.bind(clock) }
  const client = cluster.client('a')
  const elector = new LeaderElector(client, { lease, identity: 'a', clock: blocked })
  await elector.acquire(never)
  blockedMs = 9_999
  await write(fenceWrites(client, elector.leadership), 'in-time')
  blockedMs = 10_000
  await expect(write(fenceWrites(client, elector.leadership), 'too-late')).rejects.toThrow(NotLeaderError)
  expect(elector.leadershipSignal.aborted).toBe(false)
})

test('a slow server does not end the leadership as long as a renewal succeeds in time', async () => {
  const { clock, cluster } = world()
  const slow: Faults = { before: () => sleep(1_500, { clock }), after: () => sleep(1_500, { clock }) }
  const a = candidate({ clock, cluster }, 'a', slow)
  await clock.runToCompletion(a.elector.acquire(never))
  await clock.advance(600_000)
  expect(a.isLeader()).toBe(true)
})

test('winning the lease so slowly that the deadline has passed does not count as winning', async () => {
  const { clock, cluster } = world()
  let delayMs = 6_000
  const a = candidate({ clock, cluster }, 'a', { after: () => sleep(delayMs, { clock }) })
  let acquired = false
  void a.elector.acquire(never).then(() => {
    acquired = true
  })
  await clock.advance(60_000)
  expect(acquired).toBe(false)
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('a')
  delayMs = 10
  await clock.advance(10_000)
  expect(acquired).toBe(true)
})

test('a renewal whose response was lost is completed by the next one', async () => {
  const { clock, cluster } = world()
  let lost = 0
  const a = candidate({ clock, cluster }, 'a', {
    after: (call) => {
      if (call.verb === 'update' && lost++ % 2 === 0) throw new Error('connection reset')
    },
  })
  await clock.runToCompletion(a.elector.acquire(never))
  await clock.advance(120_000)
  expect(lost).toBeGreaterThan(20)
  expect(a.isLeader()).toBe(true)
})

test('a leader whose lease was taken manually stops at its next renewal', async () => {
  const { clock, cluster } = world()
  const a = candidate({ clock, cluster }, 'a')
  await clock.runToCompletion(a.elector.acquire(never))
  await cluster.client('admin').patch(Leases, lease, { type: 'merge', patch: { spec: { holderIdentity: 'admin' } } })
  await clock.advance(2_000)
  expect(a.isLeader()).toBe(false)
  expect(String(a.elector.leadershipSignal.reason)).toContain('admin holds it now')
})

test('a deleted lease is recreated by its holder, and a standby does not take it', async () => {
  const { clock, cluster } = world()
  const [a, b] = [candidate({ clock, cluster }, 'a'), candidate({ clock, cluster }, 'b')]
  await clock.runToCompletion(a.elector.acquire(never))
  void b.elector.acquire(never)
  await clock.advance(5_000)
  for (let round = 0; round < 20; round++) {
    cluster.remove(Leases, lease)
    await clock.advance(1_700)
    expect([a.isLeader(), b.isLeader()]).toEqual([true, false])
  }
  await clock.advance(5_000)
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('a')
})

test('a standby takes a deleted lease only after its disconnected holder has stopped', async () => {
  const { clock, cluster } = world()
  const [a, b] = [candidate({ clock, cluster }, 'a'), candidate({ clock, cluster }, 'b')]
  await clock.runToCompletion(a.elector.acquire(never))
  void b.elector.acquire(never)
  await clock.advance(5_000)
  a.partition()
  cluster.remove(Leases, lease)
  await clock.runUntil(() => b.isLeader() || !a.isLeader())
  expect([a.isLeader(), b.isLeader()]).toEqual([false, false])
  await clock.runUntil(b.isLeader)
})

test('a holder whose clock is set an hour back or forward neither loses nor keeps the lease wrongly', async () => {
  for (const skewMs of [-3_600_000, 3_600_000]) {
    const { clock, cluster } = world()
    const skewed = { now: () => clock.now() + skewMs, schedule: clock.schedule.bind(clock) }
    const client = cluster.client('a')
    const a = new LeaderElector(client, { lease, identity: 'a', clock: skewed })
    await a.acquire(never)
    const b = candidate({ clock, cluster }, 'b')
    void b.elector.acquire(never)
    await clock.advance(60_000)
    expect([a.leadership.isLeader, b.isLeader()]).toEqual([true, false])
    await clock.runToCompletion(a.resign(never))
    await clock.runUntil(b.isLeader, { maxMs: 3_000 })
  }
})

test('resigning gives the lease back, and a standby takes over at its next try', async () => {
  const { clock, cluster } = world()
  const [a, b] = [candidate({ clock, cluster }, 'a'), candidate({ clock, cluster }, 'b')]
  await clock.runToCompletion(a.elector.acquire(never))
  void b.elector.acquire(never)
  await clock.advance(5_000)
  expect(await clock.runToCompletion(a.elector.resign(never))).toEqual({ isReleased: true, writesInFlight: 0 })
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('')
  const releasedAt = clock.now()
  await clock.runUntil(b.isLeader)
  expect(clock.now() - releasedAt).toBeLessThan(2_500)
  await expect(write(a.writer, 'late')).rejects.toThrow(NotLeaderError)
})

test('the lease is kept and renewed until the last write has settled, and released after it', async () => {
  const { clock, cluster } = world()
  const a = candidate({ clock, cluster }, 'a', {
    before: (call) => (call.resource === 'configmaps' ? sleep(40_000, { clock }) : undefined),
  })
  await clock.runToCompletion(a.elector.acquire(never))
  const slow = write(a.writer, 'slow')
  const resignation = a.elector.resign(never)
  await expect(write(a.writer, 'new')).rejects.toThrow(NotLeaderError)
  await clock.advance(39_000)
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('a')
  await clock.runToCompletion(resignation)
  await slow
  expect(cluster.writes.slice(-2).map(({ resource }) => resource)).toEqual(['configmaps', 'leases'])
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('')
})

test('a write that does not settle by the deadline is aborted and the lease expires', async () => {
  const { clock, cluster } = world()
  const a = candidate({ clock, cluster }, 'a', {
    before: (call) => (call.resource === 'configmaps' ? new Promise(() => undefined) : undefined),
  })
  await clock.runToCompletion(a.elector.acquire(never))
  const stuck = write(a.writer, 'stuck').catch((error: unknown) => error)
  const deadline = new AbortController()
  const resignation = a.elector.resign(deadline.signal)
  await clock.advance(5_000)
  deadline.abort(new Error('grace is over'))
  expect(await resignation).toEqual({ isReleased: false, writesInFlight: 1 })
  expect(await stuck).toBeInstanceOf(NotLeaderError)
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('a')
  expect(clock.pendingTimers).toBe(0)
})

test('a release retries when the lease was changed by an own renewal whose response was lost', async () => {
  const { clock, cluster } = world()
  const a = candidate({ clock, cluster }, 'a')
  await clock.runToCompletion(a.elector.acquire(never))
  await cluster.client('admin').patch(Leases, lease, { type: 'merge', patch: { metadata: { labels: { x: 'y' } } } })
  expect((await clock.runToCompletion(a.elector.resign(never))).isReleased).toBe(true)
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('')
})

test('resigning without ever having led touches nothing', async () => {
  const { clock, cluster } = world()
  const [a, b] = [candidate({ clock, cluster }, 'a'), candidate({ clock, cluster }, 'b')]
  await clock.runToCompletion(a.elector.acquire(never))
  const stop = new AbortController()
  const waiting = b.elector.acquire(stop.signal)
  await clock.advance(5_000)
  stop.abort(new Error('shutting down'))
  await expect(waiting).rejects.toThrow('shutting down')
  expect((await b.elector.resign(never)).isReleased).toBe(false)
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('a')
})

test('dry runs and reads pass without leadership', async () => {
  const { clock, cluster } = world()
  const a = candidate({ clock, cluster }, 'a')
  await write(a.client, 'there')
  await a.writer.get(ConfigMaps, { namespace: 'shop', name: 'there' })
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name: 'plan' } }
  await a.writer.create(ConfigMaps, object, { dryRun: true })
  await expect(a.writer.create(ConfigMaps, object)).rejects.toThrow('refused to create ConfigMap shop/plan')
})

test('every verb that writes is fenced', async () => {
  const { clock, cluster } = world()
  const { writer } = candidate({ clock, cluster }, 'a')
  const key = { namespace: 'shop', name: 'x' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }
  const attempts = [
    writer.create(ConfigMaps, object),
    writer.update(ConfigMaps, object),
    writer.patch(ConfigMaps, key, { type: 'merge', patch: {} }),
    writer.apply(ConfigMaps, object),
    writer.delete(ConfigMaps, key),
    writer.deleteCollection(ConfigMaps, { namespace: 'shop' }),
    writer.raw({ method: 'POST', path: '/api/v1/namespaces/shop/pods/x/eviction?token=hidden' }),
  ]
  for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'NOT_LEADER' })
  await expect(attempts[6]).rejects.not.toThrow(/hidden/)
})

test('metrics show which replica leads', async () => {
  const { clock, cluster } = world()
  const metrics = await createMetricsRegistry({ processMetrics: false })
  const elector = new LeaderElector(cluster.client('a'), { lease, identity: 'a', clock, metrics })
  expect(await metrics.expose()).toContain('leader_election_master_status{name="operator"} 0')
  await elector.acquire(never)
  expect(await metrics.expose()).toContain('leader_election_master_status{name="operator"} 1')
  await clock.runToCompletion(elector.resign(never))
  expect(await metrics.expose()).toContain('leader_election_master_status{name="operator"} 0')
})

test('times that contradict each other are rejected at the start', () => {
  const client = world().cluster.client()
  expect(() => new LeaderElector(client, { lease, renewDeadlineMs: 15_000 })).toThrow(ElectionConfigError)
  expect(() => new LeaderElector(client, { lease, retryPeriodMs: 9_000 })).toThrow(/no time for a retry/)
  expect(() => new LeaderElector(client, { lease, retryPeriodMs: 0 })).toThrow(/above 0/)
  expect(() => new LeaderElector(client, { lease, identity: '' })).toThrow(/identity is empty/)
})
