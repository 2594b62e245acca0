/** The controller of nodes on the embedded cluster, against the simulated tenant. */
import { Deployments, Nodes, Pods, ReplicaSets, ServiceAccounts } from '@reeve/kube'
import { controllerReference } from '@reeve/runtime/owner-references'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PRUNED_ANNOTATION } from '../../src/controllers/nodes/node-table.ts'
import { NAMESPACE } from '../dynakube/support/stage.ts'
import { type NodesStage, setNodesStage, TENANT } from './support/nodes-stage.ts'

const MINUTE = 60_000

let stage: NodesStage
beforeEach(async () => {
  stage = await setNodesStage()
})
afterEach(() => stage[Symbol.asyncDispose]())

const tenant = () => stage.simulator.tenant(TENANT)
const events = () => tenant().hosts.events()
const calls = (operation: string) => stage.simulator.calls().filter((call) => call.operation === operation).length
const entries = async () => Object.keys((await stage.cached())?.data ?? {}).sort()
const entry = async (node: string) => JSON.parse((await stage.cached())?.data?.[node] ?? 'null')

/** Two nodes with agents, both known to the tenant and to the controller. */
async function twoNodes() {
  await stage.runAgents({ a: '10.0.0.1', b: '10.0.0.2' })
  const host = tenant().hosts.add({ ipAddresses: ['10.0.0.1'] })
  await stage.addNodes('a', 'b')
  await stage.world.until(async () => (await entries()).length === 2)
  return host
}

describe('a node that is cordoned', () => {
  it('is looked up once and reported once, and not again within an hour', async () => {
    const host = await twoNodes()
    expect((await stage.touch('a', { unschedulable: true })).outcome).toBe('success')
    expect(events()).toMatchObject([{ eventType: 'MARKED_FOR_TERMINATION', entityIds: [host.entityId] }])
    expect([calls('hosts'), calls('events')]).toEqual([1, 1])
    await stage.touch('a', { unschedulable: false })
    await stage.world.pass('59m')
    await stage.touch('a', { unschedulable: true })
    expect([calls('hosts'), calls('events')]).toEqual([1, 1])
    await stage.world.pass('2m')
    await stage.touch('a')
    expect([calls('hosts'), calls('events')]).toEqual([2, 2])
  })

  it('is announced for ten minutes before it was last seen', async () => {
    await twoNodes()
    const beforeMs = stage.world.clock.now()
    await stage.touch('a', { unschedulable: true })
    const [event] = events()
    expect(event?.startMs).toBe(event?.endMs)
    expect(event?.startMs).toBeGreaterThanOrEqual(beforeMs - 10 * MINUTE)
    expect(event?.startMs).toBeLessThanOrEqual(stage.world.clock.now() - 10 * MINUTE)
    expect(Date.parse((await entry('a')).marked)).toBeGreaterThan(beforeMs - 1_000)
  })

  it('counts as such when the autoscaler is about to delete it', async () => {
    await twoNodes()
    await stage.touch('a', { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] })
    expect(events()).toHaveLength(1)
  })

  it('is ignored without an agent', async () => {
    await twoNodes()
    await stage.addNodes('c')
    await stage.touch('c', { unschedulable: true })
    expect([events().length, await entries()]).toEqual([0, ['a', 'b']])
  })

  it('is announced after a restart that came between the event and the note of it', async () => {
    await twoNodes()
    const cached = await stage.cached()
    await stage.touch('a', { unschedulable: true })
    // As if the operator had crashed before it wrote.
    await stage.tamper({ data: cached?.data })
    await stage.touch('a')
    expect(events()).toHaveLength(2)
  })
})

describe('a node that was removed', () => {
  it('is announced and forgotten', async () => {
    await twoNodes()
    const { seen } = await entry('a')
    expect((await stage.remove('a')).outcome).toBe('success')
    expect(events()).toMatchObject([{ startMs: Date.parse(seen) - 10 * MINUTE }])
    expect(await entries()).toEqual(['b'])
  })

  it('is not announced a second time when it was cordoned before', async () => {
    await twoNodes()
    await stage.touch('a', { unschedulable: true })
    await stage.remove('a')
    expect([events().length, await entries()]).toEqual([1, ['b']])
  })

  it('is forgotten without an event when the tenant does not know the host', async () => {
    await twoNodes()
    expect((await stage.remove('b')).outcome).toBe('success')
    expect([calls('hosts'), events().length, await entries()]).toEqual([1, 0, ['a']])
  })

  it('is forgotten without a call when its DynaKube lists it no more', async () => {
    await twoNodes()
    await stage.runAgents({ b: '10.0.0.2' })
    await stage.remove('a')
    expect([calls('hosts'), await entries()]).toEqual([0, ['b']])
  })

  it('is kept as long as the tenant fails, which fails the reconcile', async () => {
    await twoNodes()
    const fault = stage.simulator.faults.add({ kind: 'status', status: 500, operation: 'events' })
    expect((await stage.remove('a')).outcome).toBe('error')
    expect(await entries()).toEqual(['a', 'b'])
    fault.remove()
    await stage.world.pass('11m')
    await stage.touch('b')
    expect([events().length, await entries()]).toEqual([1, ['b']])
  })

  it('is noticed by the next operator when none was running', async () => {
    await stage.runAgents({ a: '10.0.0.1', b: '10.0.0.2' })
    tenant().hosts.add({ ipAddresses: ['10.0.0.1'] })
    await stage.addNodes('a', 'b')
    await stage.world.until(async () => (await entries()).length === 2)
    for (const replica of stage.world.replicas) await replica.stop()
    await stage.world.delete(Nodes, 'a')
    await stage.world.pass('11m')
    await stage.world.start()
    await stage.world.until(async () => (await entries()).length === 1)
    expect(events()).toHaveLength(1)
  })
})

describe('a tenant without these calls', () => {
  it.each(['hosts', 'events'])('fails nothing when it has no %s', async (operation) => {
    await twoNodes()
    stage.simulator.faults.add({ kind: 'status', status: 404, operation })
    expect((await stage.touch('a', { unschedulable: true })).outcome).toBe('success')
    expect((await stage.remove('a')).outcome).toBe('success')
    expect([events().length, await entries()]).toEqual([0, ['b']])
  })
})

describe('a tenant that is busy', () => {
  it('is tried again later', async () => {
    await twoNodes()
    const fault = stage.simulator.faults.add({ kind: 'status', status: 503, operation: 'events' })
    expect((await stage.touch('a', { unschedulable: true })).outcome).toBe('error')
    expect((await entry('a')).marked).toBe('0001-01-01T00:00:00Z')
    fault.remove()
    expect((await stage.touch('a')).outcome).toBe('success')
    expect(events()).toHaveLength(1)
  })
})

describe('the ConfigMap', () => {
  it('is created by the first node even without any agent', async () => {
    await stage.addNodes('a')
    await stage.world.until(async () => (await stage.cached()) !== undefined)
    expect((await stage.cached())?.data ?? {}).toEqual({})
    expect((await stage.cached())?.metadata.ownerReferences).toBeUndefined()
  })

  it('is not written by heartbeats', async () => {
    await twoNodes()
    const before = await stage.cached()
    await stage.world.pass('4m')
    for (const node of ['a', 'b', 'a']) await stage.touch(node)
    expect((await stage.cached())?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion)
  })

  it('is written once for all nodes when they were last seen some minutes ago', async () => {
    await twoNodes()
    const before = await entry('b')
    await stage.world.pass('6m')
    await stage.touch('a')
    const after = await stage.cached()
    expect(Date.parse((await entry('b')).seen)).toBeGreaterThan(Date.parse(before.seen))
    await stage.touch('b')
    expect((await stage.cached())?.metadata.resourceVersion).toBe(after?.metadata.resourceVersion)
  })

  it('drops nodes that have no agent for more than an hour', async () => {
    await twoNodes()
    await stage.runAgents({ b: '10.0.0.2' })
    await stage.world.pass('59m')
    await stage.touch('b')
    expect(await entries()).toEqual(['a', 'b'])
    await stage.world.pass('12m')
    await stage.touch('b')
    expect(await entries()).toEqual(['b'])
  })

  it.each(['not a time', ''])('is cleaned up although it was last cleaned up at %j', async (time) => {
    await twoNodes()
    const metadata = { annotations: { [PRUNED_ANNOTATION]: time } }
    const data = { c: '{"seen":"2020-01-01T00:00:00Z","ip":"10.0.0.3"}', d: 'nonsense' }
    await stage.tamper({ metadata, data })
    await stage.touch('a')
    expect(await entries()).toEqual(['a', 'b'])
  })

  it('belongs to the Deployment of the operator', async () => {
    await using stage = await setNodesStage({ podName: 'operator-1-x' })
    const meta = (name: string) => ({ namespace: NAMESPACE, name })
    const selector = { matchLabels: { app: 'operator' } }
    const template = {
      metadata: { labels: { app: 'operator' } },
      spec: { containers: [{ name: 'operator', image: 'operator' }] },
    }
    await stage.world.client.create(ServiceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: meta('default'),
    })
    const deployment = await stage.world.client.create(Deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: meta('operator'),
      spec: { selector, template },
    })
    const replicaSet = await stage.world.client.create(ReplicaSets, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { ...meta('operator-1'), ownerReferences: [controllerReference(deployment)] },
      spec: { selector, template },
    })
    await stage.world.client.create(Pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...meta('operator-1-x'), ownerReferences: [controllerReference(replicaSet)] },
      spec: template.spec,
    })
    await stage.addNodes('a')
    await stage.world.until(async () => (await stage.cached()) !== undefined)
    expect((await stage.cached())?.metadata.ownerReferences).toEqual([controllerReference(deployment)])
  })

  it('is not created when the Deployment of the operator is unknown', async () => {
    await using stage = await setNodesStage({ podName: 'gone' })
    await stage.addNodes('a')
    await stage.world.until(() => stage.records.length > 0)
    expect(stage.records).toMatchObject([{ outcome: 'error', error: expect.stringContaining('gone') }])
    expect(await stage.cached()).toBeUndefined()
  })

  it('drops many nodes in several reconciles, and those of an unreachable tenant not at all', async () => {
    await twoNodes()
    const lost = Array.from({ length: 45 }, (_, index) => `lost-${index}`)
    const seen = new Date(stage.world.clock.now()).toISOString()
    const data = Object.fromEntries(lost.map((name) => [name, JSON.stringify({ seen, ip: '10.0.0.9' })]))
    await stage.runAgents({ a: '10.0.0.1', b: '10.0.0.2', 'lost-7': '10.0.0.9', 'lost-8': '10.0.0.9' })
    const fault = stage.simulator.faults.add({ kind: 'unauthorized', operation: 'hosts' })
    await stage.tamper({ data, metadata: { annotations: { [PRUNED_ANNOTATION]: null } } })
    for (const outcome of ['error', 'error', 'error']) expect((await stage.touch('b')).outcome).toBe(outcome)
    expect(await entries()).toEqual(['a', 'b', 'lost-7', 'lost-8'])
    expect(calls('hosts')).toBe(3)
    fault.remove()
    expect((await stage.touch('b')).outcome).toBe('success')
    expect(await entries()).toEqual(['a', 'b'])
  })
})
