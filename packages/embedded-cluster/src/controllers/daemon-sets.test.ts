import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Node } from './kinds/cluster.ts'
import { isActive, isReady, type PodSpec } from './kinds/pods.ts'
import type { ControllerRevision, DaemonSet } from './kinds/workloads.ts'
import { daemonSet, podTemplate } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({
    nodes: [
      { name: 'one', labels: { disk: 'ssd' } },
      { name: 'two' },
      { name: 'control', taints: [{ key: 'control-plane', effect: 'NoSchedule' }] },
    ],
  })
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

const sets = () => cluster.of<DaemonSet>('daemonsets.apps')

function template(image: string, spec: Partial<PodSpec> = {}) {
  return podTemplate({ labels: { app: 'agent' }, image, spec: { containers: [{ name: 'main', image }], ...spec } })
}

async function create(podSpec: Partial<PodSpec> = {}, spec: Partial<DaemonSet['spec']> = {}): Promise<void> {
  await sets().create(daemonSet('agent', { template: template('agent:1', podSpec), ...spec }))
  await cluster.advance(5_000)
}

function agent(): DaemonSet {
  const found = sets().get('default', 'agent')
  if (found === undefined) throw new Error('the DaemonSet does not exist')
  return found
}

async function change(spec: Partial<DaemonSet['spec']>): Promise<void> {
  await cluster.change<DaemonSet>('daemonsets.apps', 'default/agent', (object) => ({
    ...object,
    spec: { ...object.spec, ...spec },
  }))
  await cluster.advance(60_000)
}

const nodesWithPods = () =>
  cluster.pods
    .list()
    .map(({ spec }) => spec.nodeName)
    .sort()
const images = () => cluster.pods.list().map(({ spec }) => spec.containers[0]?.image)

async function changeNode(name: string, update: (node: Node) => Node): Promise<void> {
  await cluster.change<Node>('nodes', name, update)
  await cluster.advance(10_000)
}

describe('a DaemonSet runs on', () => {
  it('every node whose taints it tolerates, and reports that', async () => {
    await create()
    expect(nodesWithPods()).toEqual(['one', 'two'])
    expect(agent().status).toEqual({
      observedGeneration: 1,
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      numberReady: 2,
      numberAvailable: 2,
      updatedNumberScheduled: 2,
      numberMisscheduled: 0,
    })
  })

  it('tainted nodes too if it tolerates everything', async () => {
    await create({ tolerations: [{ operator: 'Exists' }] })
    expect(nodesWithPods()).toEqual(['control', 'one', 'two'])
  })

  it('the nodes that its selector or affinity matches', async () => {
    await create({ nodeSelector: { disk: 'ssd' } })
    expect(nodesWithPods()).toEqual(['one'])
    const matchExpressions = [{ key: 'disk', operator: 'DoesNotExist' }]
    const required = { nodeSelectorTerms: [{ matchExpressions }] }
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required }
    await change({ template: template('agent:1', { affinity: { nodeAffinity } }) })
    expect(nodesWithPods()).toEqual(['two'])
  })

  it('nodes that join, but not on nodes that are deleted or no longer match', async () => {
    await create({ nodeSelector: { disk: 'ssd' } })
    await cluster.create('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'new', labels: { disk: 'ssd' } },
    })
    await cluster.advance(5_000)
    expect(nodesWithPods()).toEqual(['new', 'one'])
    await changeNode('one', (node) => ({ ...node, metadata: { ...node.metadata, labels: {} } }))
    expect(nodesWithPods()).toEqual(['new'])
    await cluster.delete('nodes', undefined, 'new')
    await cluster.advance(60_000)
    expect(nodesWithPods()).toEqual([])
    expect(agent().status).toMatchObject({ desiredNumberScheduled: 0, numberReady: 0 })
  })

  it('nodes that are cordoned', async () => {
    await changeNode('one', (node) => ({ ...node, spec: { ...node.spec, unschedulable: true } }))
    await create()
    expect(nodesWithPods()).toEqual(['one', 'two'])
  })

  it('nodes with NoSchedule taints added later, but not on nodes with NoExecute taints', async () => {
    await create()
    await changeNode('one', (node) => ({
      ...node,
      spec: { ...node.spec, taints: [{ key: 'busy', effect: 'NoSchedule' }] },
    }))
    expect(nodesWithPods()).toEqual(['one', 'two'])
    expect(agent().status).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 1 })
    await changeNode('two', (node) => ({
      ...node,
      spec: { ...node.spec, taints: [{ key: 'broken', effect: 'NoExecute' }] },
    }))
    expect(nodesWithPods()).toEqual(['one'])
  })
})

describe('the pods of a DaemonSet', () => {
  it('are recreated when they are deleted, and after a delay when they terminate', async () => {
    await create()
    const [first, second] = cluster.pods.list()
    if (first === undefined || second === undefined) throw new Error('no pods')
    await cluster.pods.delete(first)
    await cluster.pods.updateStatus(second, { ...second.status, phase: 'Failed' })
    await cluster.advance(30_000)
    expect(cluster.pods.list().filter(isReady)).toHaveLength(2)
    expect(cluster.pods.list()).toHaveLength(2)
  })

  it('are replaced one node at a time by default', async () => {
    await create()
    let fewest = 2
    cluster.api.subscribe(() => {
      fewest = Math.min(fewest, cluster.pods.list().filter((pod) => isActive(pod) && isReady(pod)).length)
    })
    await change({ template: template('agent:2') })
    expect(images()).toEqual(['agent:2', 'agent:2'])
    expect(fewest).toBe(1)
    expect(agent().status).toMatchObject({ observedGeneration: 2, updatedNumberScheduled: 2, numberAvailable: 2 })
  })

  it('are created before the old ones are deleted when the update surges', async () => {
    await create({}, { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } })
    let fewest = 2
    cluster.api.subscribe(() => {
      fewest = Math.min(fewest, cluster.pods.list().filter((pod) => isActive(pod) && isReady(pod)).length)
    })
    await change({ template: template('agent:2') })
    expect(images()).toEqual(['agent:2', 'agent:2'])
    expect(fewest).toBe(2)
  })

  it('stay when a broken update would remove the last available ones', async () => {
    await create()
    await change({ template: template('agent:does-not-exist') })
    expect(cluster.pods.list().filter(isReady)).toHaveLength(1)
    expect(agent().status).toMatchObject({ numberUnavailable: 1, updatedNumberScheduled: 1 })
    await change({ template: template('agent:3') })
    expect(images()).toEqual(['agent:3', 'agent:3'])
    expect(cluster.pods.list().filter(isReady)).toHaveLength(2)
  })

  it('stay until they are deleted when the strategy is OnDelete', async () => {
    await create({}, { updateStrategy: { type: 'OnDelete' } })
    await change({ template: template('agent:2') })
    expect(images()).toEqual(['agent:1', 'agent:1'])
    const [first] = cluster.pods.list()
    if (first === undefined) throw new Error('no pods')
    await cluster.pods.delete(first)
    await cluster.advance(10_000)
    expect(images().sort()).toEqual(['agent:1', 'agent:2'])
  })

  it('are adopted unchanged from an earlier DaemonSet', async () => {
    await create()
    const uids = cluster.pods.list().map(({ metadata }) => metadata.uid)
    await sets().delete(agent(), { propagationPolicy: 'Orphan' })
    await cluster.advance(10_000)
    await create()
    await cluster.advance(60_000)
    expect(cluster.pods.list().map(({ metadata }) => metadata.uid)).toEqual(uids)
  })

  it('cause no work while they run', async () => {
    await create()
    const { writes } = cluster.api
    await cluster.advance(6 * 3_600_000)
    expect(cluster.api.writes).toBe(writes)
    expect(cluster.clock.pendingTimers).toBe(0)
  })
})

it('a DaemonSet stores its revisions with sorted keys, because clients compare them by their bytes', async () => {
  await create()
  const [revision] = cluster.of<ControllerRevision>('controllerrevisions.apps').list()
  const { template: stored } = revision?.data.spec ?? {}
  expect(JSON.stringify(Object.keys(stored ?? {}))).toBe('["$patch","metadata","spec"]')
  const fields = Object.keys(stored?.spec ?? {})
  expect(fields.length).toBeGreaterThan(3)
  expect(fields).toEqual([...fields].sort())
})
