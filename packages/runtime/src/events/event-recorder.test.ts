import { sleep } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { ApiError, ConnectionError, type CoreEvent, Events, type KubeObject } from '@reeve/kube'
import { expect, test } from 'vitest'
import { type Faults, MemoryCluster } from '../../test/support/memory-cluster.ts'
import { InFlight } from '../lifecycle/in-flight.ts'
import { createMetricsRegistry } from '../metrics/registry.ts'
import { ApiEventRecorder, recorderFor } from './event-recorder.ts'

const object = (name = 'web', uid = 'uid-1'): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'WebApp',
  metadata: { namespace: 'shop', name, uid, resourceVersion: '7' },
})

async function setUp(faults: Faults | ((clock: SimulatedClock) => Faults) = {}) {
  const clock = new SimulatedClock()
  const cluster = new MemoryCluster(clock)
  const metrics = await createMetricsRegistry({ processMetrics: false })
  const client = cluster.client('recorder', typeof faults === 'function' ? faults(clock) : faults)
  const busy = new InFlight()
  const events = new ApiEventRecorder(client, { component: 'webapp-operator', instance: 'pod-1', clock, metrics, busy })
  const stop = new AbortController()
  const done = events.run(stop.signal)
  const all = () => cluster.all(Events) as CoreEvent[]
  const dropped = async (reason: string) =>
    (await metrics.expose()).includes(`events_dropped_total{reason="${reason}"}`)
  return { clock, cluster, events, stop, done, all, dropped, busy }
}

test('events of a controller name it as their source, apart from the same event of another one', async () => {
  const { clock, events, all } = await setUp()
  const occurrence = { reason: 'Applied', message: 'created Deployment web' }
  recorderFor('first-controller', events).record(object(), occurrence)
  recorderFor('second-controller', events).record(object(), occurrence)
  recorderFor('second-controller', events).record(object(), occurrence)
  await clock.settle()
  expect(all().map(({ source, reportingComponent, count }) => [source?.component, reportingComponent, count])).toEqual([
    ['first-controller', 'first-controller', 1],
    ['second-controller', 'second-controller', 2],
  ])
})

test('an event shows everything that kubectl describe prints', async () => {
  const { clock, events, all } = await setUp()
  events.record(object(), { type: 'Warning', reason: 'ImageMissing', message: 'no such image', action: 'Pull' })
  await clock.settle()
  expect(all()).toHaveLength(1)
  expect(all()[0]).toMatchObject({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]+$/) },
    involvedObject: { apiVersion: 'example.com/v1', kind: 'WebApp', namespace: 'shop', name: 'web', uid: 'uid-1' },
    type: 'Warning',
    reason: 'ImageMissing',
    message: 'no such image',
    action: 'Pull',
    count: 1,
    firstTimestamp: '2030-01-01T00:00:00Z',
    lastTimestamp: '2030-01-01T00:00:00Z',
    source: { component: 'webapp-operator' },
    reportingComponent: 'webapp-operator',
    reportingInstance: 'pod-1',
  })
})

test('the same event again raises the count and the last time of the existing one', async () => {
  const { clock, events, all } = await setUp()
  for (let turn = 0; turn < 3; turn++) {
    events.record(object(), { reason: 'Synced', message: 'in sync' })
    await clock.advance(60_000)
  }
  expect(all()).toHaveLength(1)
  expect(all()[0]).toMatchObject({
    count: 3,
    firstTimestamp: '2030-01-01T00:00:00Z',
    lastTimestamp: '2030-01-01T00:02:00Z',
  })
})

test('a burst of the same event costs few requests and loses no count', async () => {
  const { clock, cluster, events, all } = await setUp((clock) => ({ before: () => sleep(100, { clock }) }))
  for (let turn = 0; turn < 1_000; turn++) events.record(object(), { reason: 'Synced', message: 'in sync' })
  await clock.advance(10_000)
  expect(all()[0]?.count).toBe(1_000)
  expect(cluster.writes.length).toBeLessThanOrEqual(2)
})

test('events about different objects, reasons, types and incarnations stay apart', async () => {
  const { clock, events, all } = await setUp()
  const base = { reason: 'Synced', message: 'in sync' }
  events.record(object(), base)
  events.record(object('other'), base)
  events.record(object('web', 'uid-2'), base)
  events.record(object(), { ...base, reason: 'Scaled' })
  events.record(object(), { ...base, type: 'Warning' })
  events.record(object(), { ...base, message: 'scaled' })
  await clock.settle()
  expect(all().map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1])
})

test('many different messages with one reason are combined', async () => {
  const { clock, events, all } = await setUp()
  for (let turn = 0; turn < 50; turn++) events.record(object(), { reason: 'Failed', message: `attempt ${turn}` })
  await clock.settle()
  expect(all()).toHaveLength(11)
  expect(all().at(-1)).toMatchObject({ message: '(combined from similar events): attempt 49', count: 40 })
  await clock.advance(600_000)
  events.record(object(), { reason: 'Failed', message: 'attempt 50' })
  await clock.settle()
  expect(all().at(-1)).toMatchObject({ message: 'attempt 50', count: 1 })
})

test('one noisy object has a budget, which does not touch the others, and refills', async () => {
  const { clock, cluster, events, all, dropped } = await setUp()
  for (let turn = 0; turn < 100; turn++) {
    events.record(object(), { reason: `Reason${turn}`, message: 'noise' })
    await clock.settle()
  }
  expect(all()).toHaveLength(25)
  expect(await dropped('rate_limited')).toBe(true)
  events.record(object('quiet'), { reason: 'Synced', message: 'in sync' })
  await clock.settle()
  expect(all()).toHaveLength(26)
  const before = cluster.writes.length
  await clock.advance(300_000)
  events.record(object(), { reason: 'Reason99', message: 'noise' })
  await clock.settle()
  expect(cluster.writes.length - before).toBe(1)
  expect(all().at(-1)).toMatchObject({ reason: 'Reason99', count: 2 })
})

test('an event that the server has deleted is created again and keeps its count', async () => {
  const { clock, cluster, events, all } = await setUp()
  events.record(object(), { reason: 'Synced', message: 'in sync' })
  await clock.settle()
  const [first] = all()
  cluster.remove(Events, { namespace: 'shop', name: first?.metadata.name ?? '' })
  await clock.advance(7_200_000)
  events.record(object(), { reason: 'Synced', message: 'in sync' })
  await clock.settle()
  expect(all()).toHaveLength(1)
  expect(all()[0]?.count).toBe(2)
  expect(all()[0]?.metadata.name).not.toBe(first?.metadata.name)
})

test('a lost response causes no second event', async () => {
  let isFirst = true
  const { clock, events, all } = await setUp({
    after: () => {
      if (!isFirst) return
      isFirst = false
      throw new ConnectionError('reset', 'response')
    },
  })
  events.record(object(), { reason: 'Synced', message: 'in sync' })
  await clock.advance(60_000)
  expect(all()).toHaveLength(1)
  expect(all()[0]?.count).toBe(1)
})

test('a server that is temporarily unavailable gets the event later', async () => {
  let isAway = true
  const { clock, events, all } = await setUp({
    before: () => {
      if (isAway) throw new ConnectionError('refused', 'connect')
    },
  })
  events.record(object(), { reason: 'Synced', message: 'in sync' })
  await clock.advance(3_000)
  isAway = false
  await clock.advance(10_000)
  expect(all()).toHaveLength(1)
})

test('an unavailable server loses the event, not the recorder, and the count is sent later', async () => {
  let isAway = true
  const { clock, events, all, dropped } = await setUp({
    before: () => (isAway ? new Promise(() => undefined) : undefined),
  })
  events.record(object(), { reason: 'Synced', message: 'in sync' })
  await clock.advance(120_000)
  expect(await dropped('unreachable')).toBe(true)
  isAway = false
  events.record(object(), { reason: 'Synced', message: 'in sync' })
  await clock.settle()
  expect(all()[0]?.count).toBe(2)
})

test('what the server rejects is not retried', async () => {
  let tries = 0
  const { clock, events, dropped } = await setUp({
    before: () => {
      tries++
      throw new ApiError({ verb: 'create', group: '', resource: 'events' }, 403)
    },
  })
  events.record(object(), { reason: 'Synced', message: 'in sync' })
  await clock.advance(120_000)
  expect(tries).toBe(1)
  expect(await dropped('refused')).toBe(true)
})

test('a full queue drops the newest instead of growing', async () => {
  const { clock, events, all, dropped } = await setUp((clock) => ({ before: () => sleep(1, { clock }) }))
  for (let turn = 0; turn < 4_500; turn++) events.record(object(`web-${turn}`), { reason: 'Synced', message: 'x' })
  expect(await dropped('queue_full')).toBe(true)
  await clock.advance(10_000)
  expect(all().length).toBeGreaterThanOrEqual(4_096)
  expect(all().length).toBeLessThan(4_500)
})

test('events let the writes of reconciles go first, but not for ever', async () => {
  const { clock, events, all, busy } = await setUp()
  const leave = busy.enter()
  for (let turn = 0; turn < 5; turn++) events.record(object(`web-${turn}`), { reason: 'Synced', message: 'x' })
  await clock.advance(190)
  expect(all()).toHaveLength(0)
  await clock.advance(220)
  expect(all()).toHaveLength(2)
  leave()
  await clock.settle()
  expect(all()).toHaveLength(5)
})

test('a thousand events are sent at shutdown, while writes are still in progress', async () => {
  const { clock, events, stop, done, all, busy } = await setUp((clock) => ({ before: () => sleep(20, { clock }) }))
  busy.enter()
  for (let turn = 0; turn < 1_000; turn++) events.record(object(`web-${turn}`), { reason: 'Synced', message: 'x' })
  stop.abort()
  await clock.runToCompletion(done)
  expect(all()).toHaveLength(1_000)
})

test('queued events are sent at shutdown', async () => {
  const { clock, events, stop, done, all } = await setUp((clock) => ({ before: () => sleep(100, { clock }) }))
  for (let turn = 0; turn < 5; turn++) events.record(object(`web-${turn}`), { reason: 'Stopped', message: 'bye' })
  stop.abort()
  await clock.runToCompletion(done)
  expect(all()).toHaveLength(5)
  expect(clock.pendingTimers).toBe(0)
})

test('a server that hangs delays the stop by a few seconds at most', async () => {
  const { clock, events, stop, done, dropped } = await setUp({ before: () => new Promise(() => undefined) })
  for (let turn = 0; turn < 5; turn++) events.record(object(`web-${turn}`), { reason: 'Stopped', message: 'bye' })
  await clock.settle()
  const stoppedAt = clock.now()
  stop.abort()
  await clock.runToCompletion(done)
  expect(clock.now() - stoppedAt).toBe(3_000)
  expect(await dropped('stopped')).toBe(true)
})

test('an event about a cluster-scoped object goes to the default namespace', async () => {
  const { clock, events, all } = await setUp()
  events.record({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', uid: 'u' } }, { reason: 'Seen', message: 'x' })
  await clock.settle()
  expect(all()[0]).toMatchObject({ metadata: { namespace: 'default' }, involvedObject: { kind: 'Node', name: 'n' } })
})

test('names stay valid and texts within what the API allows', async () => {
  const { clock, events, all } = await setUp()
  const name = `${'a'.repeat(231)}-${'b'.repeat(21)}`
  events.record(object(name), { reason: 'R'.repeat(300), message: 'm'.repeat(5_000) })
  await clock.settle()
  const [event] = all()
  expect(event?.metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
  expect(event?.metadata.name?.length).toBeLessThanOrEqual(253)
  expect([event?.reason?.length, event?.message?.length]).toEqual([128, 1_024])
})

test('an object without metadata does not make the recorder fail', async () => {
  const { events } = await setUp()
  expect(() => events.record({} as KubeObject, { reason: 'Odd', message: 'odd' })).not.toThrow()
})
