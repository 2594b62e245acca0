import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { sleep, type Transport, type TransportRequest } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { ConfigMaps, createClient } from '@reeve/kube'
import { Cache } from '@reeve/runtime/cache'
import { LeadershipLostError } from '@reeve/runtime/election'
import { createManager } from '@reeve/runtime/manager'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { seededRandom } from '../src/testing/seeded-random.ts'

const lease = { namespace: 'default', name: 'operator' }
const LABELS = { app: 'leadership-test' }

let clock: SimulatedClock
let cluster: EmbeddedCluster
beforeEach(async () => {
  clock = new SimulatedClock()
  cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    controllers: false,
    clock,
    random: seededRandom(1),
  })
})
afterEach(() => cluster.stop())

interface SentWrite {
  readonly replica: string
  readonly sentMs: number
  readonly isLease: boolean
}

/** What a test puts between a replica and the cluster: waiting delays, throwing or never resolving cuts. */
type Network = (request: TransportRequest, kind: { readonly isLease: boolean; readonly isWrite: boolean }) => unknown

/** A whole operator: manager, cache and a controller that writes one object after the other, `count` in all. */
function replica(name: string, count: number, network: Network = () => undefined) {
  const sent: SentWrite[] = []
  const transport: Transport = {
    ...cluster.transport,
    send: async (request) => {
      const kind = { isLease: request.path.includes('/leases'), isWrite: request.method !== 'GET' }
      if (kind.isWrite) sent.push({ replica: name, sentMs: clock.now(), isLease: kind.isLease })
      await network(request, kind)
      return cluster.transport.send(request)
    },
  }
  const shared = { clock, random: seededRandom(name.charCodeAt(0)), userAgent: name }
  const plain = createClient({ ...shared, transport })
  const cache = new Cache(plain, { clock, random: shared.random })
  const objects = cache.informer(ConfigMaps, { namespace: 'default', labelSelector: 'app=leadership-test' })
  const leaderElection = { lease, identity: name, random: shared.random }
  const manager = createManager({ client: plain, cache, clock, leaderElection })
  manager.add({
    name: 'writer',
    needsLeadership: true,
    run: async (signal) => {
      for (let index = 0; index < count && !signal.aborted; index++) {
        const key = { namespace: 'default', name: `object-${index}` }
        if (objects.get(key) !== undefined) continue
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, labels: LABELS }, data: { by: name } }
        // Expected here: rejected without leadership, or created already by the other replica.
        await manager.client.apply(ConfigMaps, object, { force: true }).catch(() => undefined)
        await sleep(200, { clock })
      }
    },
  })
  const stop = new AbortController()
  const run = manager.run(stop.signal).then(
    () => 'stopped' as const,
    (error: unknown) => error,
  )
  return { manager, sent, stop, run, isLeader: () => manager.leadership.isLeader }
}

/** Writes that took effect, in order, with who made them and when. */
function commits() {
  const log: { replica: string; resource: string; atMs: number }[] = []
  cluster.requests.onRequest(({ userAgent, verb, resource, status }) => {
    if (['create', 'update', 'patch'].includes(verb) && status < 300) {
      log.push({ replica: userAgent, resource, atMs: clock.now() })
    }
  })
  return log
}

const written = () => cluster.api.list('configmaps', { labelSelector: 'app=leadership-test' }).length

test.each(Array.from({ length: 6 }, (_, index) => index + 1))(
  'a leader whose lease runs out during write %i writes nothing after its deadline',
  async (fatal) => {
    const log = commits()
    let writes = 0
    const first = replica('first', 12, async (_request, { isLease, isWrite }) => {
      if (isWrite && !isLease) writes++
      if (writes < fatal) return
      // From this write on the leader is half cut off: renewals are lost, and what it writes takes seconds to arrive.
      if (isLease) await new Promise(() => undefined)
      if (isWrite) await sleep(4_000, { clock })
    })
    await clock.runUntil(first.isLeader)
    const second = replica('second', 12)
    await clock.runUntil(() => second.isLeader(), { maxMs: 60_000 })
    const takeoverMs = clock.now()
    await clock.runUntil(() => written() === 12, { maxMs: 60_000 })
    await clock.advance(60_000)

    const renewedMs = Math.max(...first.sent.filter(({ isLease }) => isLease).map(({ sentMs }) => sentMs))
    const lastSentMs = Math.max(...first.sent.filter(({ isLease }) => !isLease).map(({ sentMs }) => sentMs))
    expect(lastSentMs).toBeLessThan(renewedMs + 10_000)
    for (const { replica: by, resource, atMs } of log) {
      if (by === 'first' && resource === 'configmaps') expect(atMs).toBeLessThan(takeoverMs)
    }
    expect(await first.run).toBeInstanceOf(LeadershipLostError)
    second.stop.abort()
    expect(await clock.runToCompletion(second.run)).toBe('stopped')
  },
)

test('a client that keeps retrying a write stops when leadership ends', async () => {
  let isDown = false
  const first = replica('first', 6, (_request, { isLease, isWrite }) => {
    if (isDown && isLease) return new Promise(() => undefined)
    if (isDown && isWrite) throw new Error('connection reset')
    return undefined
  })
  await clock.runUntil(() => written() === 1)
  isDown = true
  const cutMs = clock.now()
  expect(await clock.runToCompletion(first.run)).toBeInstanceOf(LeadershipLostError)
  const late = first.sent.filter(({ isLease, sentMs }) => !isLease && sentMs > cutMs + 10_000)
  expect(late).toEqual([])
  expect(first.sent.filter(({ isLease, sentMs }) => !isLease && sentMs > cutMs).length).toBeGreaterThan(3)
})

test('a leader that is killed is followed by a standby, whose warm cache shows what is done already', async () => {
  const log = commits()
  let isDead = false
  const first = replica('first', 20, () => (isDead ? new Promise(() => undefined) : undefined))
  await clock.runUntil(first.isLeader)
  const second = replica('second', 20)
  await clock.runUntil(() => written() === 7)
  isDead = true
  const killedMs = clock.now()
  await clock.runUntil(() => written() === 20, { maxMs: 60_000 })
  expect(clock.now() - killedMs).toBeLessThan(25_000)
  const byFirst = log.filter(({ replica: by, atMs }) => by === 'first' && atMs > killedMs)
  expect(byFirst).toEqual([])
  expect(log.filter(({ resource }) => resource === 'configmaps')).toHaveLength(20)
  second.stop.abort()
  expect(await clock.runToCompletion(second.run)).toBe('stopped')
  await first.run
})

test('stopped at any time, an operator ends in time with the lease released after its last write', async () => {
  const log = commits()
  for (let atMs = 0; atMs < 3_000; atMs += 170) {
    log.splice(0)
    const operator = replica(`operator-${atMs}`, 50)
    await clock.advance(atMs)
    const toldMs = clock.now()
    operator.stop.abort()
    expect(await clock.runToCompletion(operator.run)).toBe('stopped')
    expect(clock.now() - toldMs).toBeLessThan(25_000)
    const lastLease = log.findLastIndex(({ resource }) => resource.startsWith('leases'))
    expect(log.slice(lastLease + 1)).toEqual([])
    const [held] = cluster.api.list('leases.coordination.k8s.io')
    expect((held?.spec as { holderIdentity?: string } | undefined)?.holderIdentity ?? '').toBe('')
  }
  expect(written()).toBeGreaterThan(20)
})
