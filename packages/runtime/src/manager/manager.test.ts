import { sleep, systemClock } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { ConfigMaps, type KubeClient, Leases } from '@reeve/kube'
import { expect, test, vi } from 'vitest'
import { MemoryCluster } from '../../test/support/memory-cluster.ts'
import { LeadershipLostError, NotLeaderError } from '../election/election-error.ts'
import type { Runnable, StartPhase } from '../lifecycle/runnable.ts'
import { createMetricsRegistry } from '../metrics/registry.ts'
import { createManager, type Manager, type ManagerOptions } from './manager.ts'
import { RunnableFailedError, ShutdownTimeoutError, StartTimeoutError } from './manager-error.ts'

const lease = { namespace: 'shop', name: 'operator' }

function setUp(options: Partial<ManagerOptions> = {}) {
  const clock = new SimulatedClock()
  const cluster = new MemoryCluster(clock)
  const manager = createManager({ client: cluster.client('manager'), clock, ...options })
  const stop = new AbortController()
  return { clock, cluster, manager, stop, log: [] as string[] }
}

/** Notes when it starts, is ready and has stopped; each takes `takesMs`. */
function part(
  { clock, log }: { clock: SimulatedClock; log: string[] },
  name: string,
  options: { phase?: StartPhase; needsLeadership?: boolean; takesMs?: number } = {},
): Runnable {
  const { phase, needsLeadership = false, takesMs = 1_000 } = options
  return {
    name,
    needsLeadership,
    ...(phase && { phase }),
    run: async (signal) => {
      log.push(`start ${name}`)
      await sleep(Number.MAX_SAFE_INTEGER, { clock, signal }).catch(() => undefined)
      await sleep(takesMs, { clock })
      log.push(`stopped ${name}`)
    },
    whenReady: async () => {
      await sleep(takesMs, { clock })
      log.push(`ready ${name}`)
    },
  }
}

const ready = async (manager: Manager) => (await manager.readiness.run('manager'))[0]?.failure

const touch = (client: KubeClient, name: string) =>
  client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name } })

test('a manager is ready before its caches are filled when they need its webhooks, and not before those are served', async () => {
  const world = setUp()
  const { clock, manager, stop } = world
  manager.add(
    { ...part(world, 'webhooks', { phase: 'webhooks' }), isNeededByCaches: true },
    part(world, 'cache', { phase: 'caches', takesMs: 20_000 }),
  )
  const run = manager.run(stop.signal)
  await clock.advance(500)
  expect(await ready(manager)).toBe('the operator is starting: webhooks')
  await clock.advance(1_000)
  expect(await ready(manager)).toBeUndefined()
  await clock.advance(20_000)
  expect(await ready(manager)).toBeUndefined()
  stop.abort()
  await clock.settle()
  expect(await ready(manager)).toBe('the operator is stopping')
  await clock.runToCompletion(run)
})

test('a manager starts phase by phase, each ready before the next, and stops in reverse', async () => {
  const world = setUp({ leaderElection: { lease, identity: 'a' } })
  const { clock, manager, stop, log } = world
  manager.add(
    part(world, 'controller', { needsLeadership: true }),
    part(world, 'worker'),
    part(world, 'cache', { phase: 'caches' }),
    part(world, 'webhooks', { phase: 'webhooks' }),
    part(world, 'server', { phase: 'servers' }),
  )
  const run = manager.run(stop.signal)
  await clock.advance(10_000)
  const order = ['server', 'webhooks', 'cache', 'worker', 'controller']
  expect(log.splice(0)).toEqual(order.flatMap((name) => [`start ${name}`, `ready ${name}`]))
  stop.abort()
  await clock.runToCompletion(run)
  expect(log).toEqual(order.toReversed().map((name) => `stopped ${name}`))
  expect(clock.pendingTimers).toBe(0)
})

test('a cache given to the manager is filled before any controller starts', async () => {
  const world = setUp()
  const cache = part(world, 'cache')
  const manager = createManager({ client: world.cluster.client(), clock: world.clock, cache })
  manager.add(part(world, 'one', { needsLeadership: true }), part(world, 'two', { needsLeadership: true }))
  expect(manager.cache).toBe(cache)
  const run = manager.run(world.stop.signal)
  await world.clock.advance(1_500)
  expect(world.log).toEqual(['start cache', 'ready cache', 'start one', 'start two'])
  world.stop.abort()
  await world.clock.runToCompletion(run)
})

test('a manager is ready only between start and stop, and says what it is doing otherwise', async () => {
  const world = setUp()
  const { clock, manager, stop } = world
  manager.add(part(world, 'cache', { phase: 'caches' }))
  expect(await ready(manager)).toBe('the operator is not started')
  const run = manager.run(stop.signal)
  await clock.advance(500)
  expect(await ready(manager)).toBe('the operator is starting: caches')
  await clock.advance(1_000)
  expect(await ready(manager)).toBeUndefined()
  stop.abort()
  await clock.advance(500)
  expect(await ready(manager)).toBe('the operator is stopping')
  await clock.runToCompletion(run)
})

test('a standby is ready, runs what needs no leadership and writes nothing', async () => {
  const world = setUp({ leaderElection: { lease, identity: 'standby' } })
  const { clock, cluster, manager, stop, log } = world
  const leader = createManager({ client: cluster.client(), clock, leaderElection: { lease, identity: 'leader' } })
  const leading = leader.run(stop.signal)
  await clock.advance(1)
  manager.add(part(world, 'controller', { needsLeadership: true }), part(world, 'webhooks', { phase: 'webhooks' }))
  const run = manager.run(stop.signal)
  await clock.advance(60_000)
  expect(log).toEqual(['start webhooks', 'ready webhooks'])
  expect(await ready(manager)).toBeUndefined()
  await expect(touch(manager.client, 'x')).rejects.toThrow(NotLeaderError)
  stop.abort()
  await clock.runToCompletion(Promise.all([run, leading]))
})

test('a part that fails stops everything, and its error is the outcome', async () => {
  const world = setUp()
  const { clock, manager, log } = world
  const cause = new Error('the disk is full')
  manager.add(part(world, 'worker'), {
    name: 'broken',
    needsLeadership: true,
    run: async () => {
      await sleep(5_000, { clock })
      throw cause
    },
  })
  const failure = await clock.runToCompletion(manager.run(world.stop.signal)).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(RunnableFailedError)
  expect(failure).toMatchObject({ runnable: 'broken', cause, message: 'broken failed: the disk is full' })
  expect(log).toContain('stopped worker')
})

test('a part that throws before it returns a promise is a failure like any other', async () => {
  const { clock, manager, stop } = setUp()
  manager.add({
    name: 'sudden',
    needsLeadership: false,
    run: () => {
      throw new Error('at once')
    },
  })
  await expect(clock.runToCompletion(manager.run(stop.signal))).rejects.toThrow('sudden failed: at once')
})

test('a runnable that completes does not stop the others', async () => {
  const world = setUp()
  const { clock, manager, stop } = world
  manager.add({ name: 'migration', needsLeadership: true, run: async () => undefined }, part(world, 'worker'))
  const run = manager.run(stop.signal)
  await clock.advance(60_000)
  expect(await ready(manager)).toBeUndefined()
  stop.abort()
  await clock.runToCompletion(run)
})

test('a cache that never fills ends the start with its name', async () => {
  const world = setUp({ startTimeoutMs: 30_000 })
  const { clock, manager, stop, log } = world
  const stuck = part(world, 'cache', { phase: 'caches' })
  manager.add({ ...stuck, whenReady: () => new Promise(() => undefined) }, part(world, 'controller'))
  const failure = await clock.runToCompletion(manager.run(stop.signal)).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(StartTimeoutError)
  expect(failure).toMatchObject({ notReady: ['cache'] })
  expect(log).toEqual(['start cache', 'stopped cache'])
})

test('parts that do not stop within the grace period are named, and the others are stopped', async () => {
  const world = setUp({ leaderElection: { lease, identity: 'a' } })
  const { clock, cluster, manager, stop, log } = world
  manager.add(part(world, 'deaf', { needsLeadership: true, takesMs: 600_000 }), part(world, 'worker'))
  manager.add({ ...part(world, 'mute'), run: () => new Promise(() => undefined) })
  const run = manager.run(stop.signal)
  await clock.runUntil(() => manager.leadership.isLeader)
  await clock.advance(1)
  const stoppedAt = clock.now()
  stop.abort()
  const failure = await clock.runToCompletion(run).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ShutdownTimeoutError)
  expect(failure).toMatchObject({ notStopped: ['deaf', 'mute'] })
  expect(clock.now() - stoppedAt).toBe(25_000)
  expect(log).toContain('stopped worker')
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('a')
})

test('the lease is released only after the last write of a stopping controller', async () => {
  const world = setUp({ leaderElection: { lease, identity: 'a' } })
  const { clock, cluster, manager, stop } = world
  manager.add({
    name: 'controller',
    needsLeadership: true,
    run: async (signal) => {
      await sleep(Number.MAX_SAFE_INTEGER, { clock, signal }).catch(() => undefined)
      await sleep(12_000, { clock })
      await touch(manager.client, 'last-words')
    },
  })
  const run = manager.run(stop.signal)
  await clock.advance(30_000)
  stop.abort()
  await clock.runToCompletion(run)
  expect(cluster.writes.slice(-2).map(({ resource }) => resource)).toEqual(['configmaps', 'leases'])
  expect(cluster.peek(Leases, lease)?.spec?.holderIdentity).toBe('')
  await expect(touch(manager.client, 'too-late')).rejects.toThrow(NotLeaderError)
})

test('losing leadership stops the controllers immediately and ends the run with an error', async () => {
  const clock = new SimulatedClock()
  const cluster = new MemoryCluster(clock)
  let isCut = false
  const client = cluster.client('a', { before: () => (isCut ? new Promise<void>(() => undefined) : undefined) })
  const manager = createManager({ client, clock, leaderElection: { lease, identity: 'a' } })
  const world = { clock, log: [] as string[] }
  manager.add(part(world, 'controller', { needsLeadership: true, takesMs: 0 }))
  const run = manager.run(new AbortController().signal).catch((error: unknown) => error)
  await clock.advance(5_000)
  isCut = true
  await clock.advance(9_000)
  expect(manager.leadership.isLeader).toBe(false)
  expect(world.log.at(-1)).toBe('stopped controller')
  expect(await clock.runToCompletion(run)).toBeInstanceOf(LeadershipLostError)
})

test('without an election writes are open while running and closed after the stop', async () => {
  const { clock, cluster, manager, stop } = setUp()
  await expect(touch(manager.client, 'early')).rejects.toThrow(NotLeaderError)
  const run = manager.run(stop.signal)
  await clock.advance(1)
  await touch(manager.client, 'in-time')
  stop.abort()
  await clock.runToCompletion(run)
  await expect(touch(manager.client, 'late')).rejects.toThrow(NotLeaderError)
  expect(cluster.all(ConfigMaps).map(({ metadata }) => metadata.name)).toEqual(['in-time'])
})

test('stopped at any time, it ends within the grace period with the lease released', async () => {
  for (let atMs = 0; atMs <= 9_000; atMs += 250) {
    const world = setUp({ leaderElection: { lease, identity: 'a' } })
    const { clock, cluster, manager, stop } = world
    manager.add(
      part(world, 'server', { phase: 'servers' }),
      part(world, 'cache', { phase: 'caches' }),
      part(world, 'controller', { needsLeadership: true }),
      {
        name: 'writer',
        needsLeadership: true,
        run: async (signal) => {
          for (let turn = 0; !signal.aborted; turn++) {
            await touch(manager.client, `turn-${turn}`)
            await sleep(300, { clock })
          }
        },
      },
    )
    const run = manager.run(stop.signal)
    await clock.advance(atMs)
    stop.abort()
    const stoppedAt = clock.now()
    await clock.runToCompletion(run)
    expect(clock.now() - stoppedAt).toBeLessThan(25_000)
    expect(world.log.filter((line) => line.startsWith('start')).length).toBe(
      world.log.filter((line) => line.startsWith('stopped')).length,
    )
    const { writes } = cluster
    const release = writes.findLastIndex(({ resource }) => resource === 'leases')
    if (release >= 0) expect(writes.slice(release + 1)).toEqual([])
    expect(cluster.peek(Leases, lease)?.spec?.holderIdentity ?? '').toBe('')
    expect(clock.pendingTimers).toBe(0)
  }
})

test('a manager runs once, and takes no parts after the start', async () => {
  const world = setUp()
  const { manager, stop, clock } = world
  const run = manager.run(stop.signal)
  expect(() => manager.add(part(world, 'late'))).toThrow('add everything before run()')
  await expect(manager.run(stop.signal)).rejects.toThrow('a manager runs once')
  stop.abort()
  await clock.runToCompletion(run)
})

test('health and metrics share a server when they share an address, and have two otherwise', () => {
  const port = 18_081
  const one = setUp({ healthAddress: { port }, metricsAddress: { port } }).manager
  expect(one.healthServer).toBe(one.metricsServer)
  const two = setUp({ healthAddress: { port }, metricsAddress: { port: 18_080 } }).manager
  expect(two.healthServer).not.toBe(two.metricsServer)
  expect(setUp().manager.healthServer).toBeUndefined()
})

test('health and metrics are served over HTTP from the first phase to the last', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  const cluster = new MemoryCluster(systemClock)
  const manager = createManager({
    client: cluster.client(),
    metrics,
    leaderElection: { lease, identity: 'a' },
    healthAddress: { host: '127.0.0.1', port: 0 },
    metricsAddress: { host: '127.0.0.1', port: 0 },
  })
  const release = Promise.withResolvers<void>()
  manager.add({
    name: 'cache',
    needsLeadership: false,
    phase: 'caches',
    run: () => release.promise,
    whenReady: () => release.promise,
  })
  const stop = new AbortController()
  const run = manager.run(stop.signal)
  const url = async (server: Manager['healthServer'], path: string) => {
    const address = await server?.address()
    return fetch(`http://127.0.0.1:${address?.port}${path}`)
  }
  const starting = await url(manager.healthServer, '/readyz')
  expect([starting.status, await starting.text()]).toEqual([503, expect.stringContaining('starting: caches')])
  expect((await url(manager.healthServer, '/healthz')).status).toBe(200)
  release.resolve()
  await vi.waitFor(async () => expect((await url(manager.healthServer, '/readyz')).status).toBe(200))
  await vi.waitFor(async () =>
    expect(await (await url(manager.metricsServer, '/metrics')).text()).toContain(
      'leader_election_master_status{name="operator"} 1',
    ),
  )
  stop.abort()
  await run
})
