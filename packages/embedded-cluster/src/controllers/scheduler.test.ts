import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Node } from './kinds/cluster.ts'
import { isReady, type Pod, type PodSpec, podCondition } from './kinds/pods.ts'
import type { SimulatedNode } from './nodes.ts'
import { deployment, pod, podTemplate } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

const zone = (value: string) => ({ 'topology.kubernetes.io/zone': value })
const nodes: SimulatedNode[] = [
  { name: 'small', labels: { ...zone('a'), disk: 'hdd' }, capacity: { cpu: '1', memory: '1Gi' } },
  { name: 'large', labels: { ...zone('b'), disk: 'ssd' } },
  { name: 'gpu', labels: { ...zone('b'), disk: 'ssd' }, taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
]

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({ nodes })
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

function get(name: string): Pod {
  const found = cluster.pods.get('default', name)
  if (found === undefined) throw new Error(`pod ${name} does not exist`)
  return found
}

async function place(name: string, spec: Partial<PodSpec> = {}, labels = { app: name }): Promise<string | undefined> {
  await cluster.pods.create(pod(name, { spec, labels }))
  await cluster.settle()
  return get(name).spec.nodeName
}

const requests = (amounts: Record<string, string>) => ({
  containers: [{ name: 'main', image: 'web:1', resources: { requests: amounts } }],
})

describe('a pod is scheduled', () => {
  it('to a node that matches its node selector', async () => {
    expect(await place('p', { nodeSelector: { disk: 'hdd' } })).toBe('small')
  })

  it('to a node that matches its required node affinity', async () => {
    const matchExpressions = [{ key: 'disk', operator: 'NotIn', values: ['hdd'] }]
    const required = { nodeSelectorTerms: [{ matchExpressions }] }
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required }
    expect(await place('p', { affinity: { nodeAffinity } })).toBe('large')
  })

  it('by its preferences, as far as possible', async () => {
    const preference = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference }] }
    for (const name of ['a', 'b', 'c']) expect(await place(name, { affinity: { nodeAffinity } })).toBe('large')
  })

  it('only to nodes whose taints it tolerates', async () => {
    const nodeSelector = { 'kubernetes.io/hostname': 'gpu' }
    expect(await place('kept-out', { nodeSelector })).toBeUndefined()
    const tolerations = [{ key: 'gpu', operator: 'Equal', value: 'yes', effect: 'NoSchedule' }]
    expect(await place('let-in', { nodeSelector, tolerations })).toBe('gpu')
    expect(await place('let-in-too', { nodeSelector, tolerations: [{ operator: 'Exists' }] })).toBe('gpu')
  })

  it('where enough resources are available', async () => {
    const nodeSelector = { disk: 'hdd' }
    expect(await place('a', { nodeSelector, ...requests({ cpu: '600m' }) })).toBe('small')
    expect(await place('b', { nodeSelector, ...requests({ cpu: '600m' }) })).toBeUndefined()
    expect(podCondition(get('b'), 'PodScheduled')).toMatchObject({
      status: 'False',
      reason: 'Unschedulable',
      message: expect.stringContaining('1 insufficient cpu'),
    })
    await cluster.pods.delete(get('a'))
    await cluster.advance(5_000)
    expect(get('b').spec.nodeName).toBe('small')
  })

  it('where its host port is available', async () => {
    const spec = { containers: [{ name: 'main', image: 'x', ports: [{ containerPort: 80, hostPort: 80 }] }] }
    expect(new Set([await place('a', spec), await place('b', spec)])).toEqual(new Set(['small', 'large']))
    expect(await place('c', spec)).toBeUndefined()
  })

  it('next to the pods of its affinity', async () => {
    const podAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'topology.kubernetes.io/zone' },
      ],
    }
    expect(await place('web', { affinity: { podAffinity } })).toBeUndefined()
    await place('db', { nodeSelector: { disk: 'hdd' } })
    expect(get('web').spec.nodeName).toBe('small')
  })

  it('away from the pods of its anti-affinity, and of theirs', async () => {
    const podAntiAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    }
    const affinity = { podAntiAffinity }
    const placed = [await place('a', { affinity }, { app: 'web' }), await place('b', { affinity }, { app: 'web' })]
    expect(placed.sort()).toEqual(['large', 'small'])
    expect(await place('c', {}, { app: 'web' })).toBeUndefined()
  })

  it('within the maximum skew of zones', async () => {
    const constraint = {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    }
    const spec = { topologySpreadConstraints: [constraint], tolerations: [{ operator: 'Exists' }] }
    const zones: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) {
      const node = await place(name, spec, { app: 'web' })
      zones.push(node === 'small' ? 'a' : 'b')
    }
    expect(zones.sort()).toEqual(['a', 'a', 'b', 'b'])
  })
})

it('the scheduler spreads the pods of one controller over the nodes', async () => {
  await cluster.deployments.create(deployment('web', { replicas: 4 }))
  await cluster.advance(5_000)
  const counts = Object.values(Object.groupBy(cluster.pods.list(), (object) => object.spec.nodeName ?? ''))
  expect(counts.map((group) => group?.length)).toEqual([2, 2])
})

it('the scheduler ignores pods with another scheduler, a scheduling gate or a fixed node', async () => {
  expect(await place('other', { schedulerName: 'mine' })).toBeUndefined()
  expect(await place('gated', { schedulingGates: [{ name: 'quota' }] })).toBeUndefined()
  expect(await place('fixed', { nodeName: 'gpu' })).toBe('gpu')
})

describe('a node', () => {
  const change = (name: string, update: (node: Node) => Node) => cluster.change<Node>('nodes', name, update)

  it('that is cordoned gets no new pods, and keeps its pods', async () => {
    expect(await place('before', { nodeSelector: { disk: 'hdd' } })).toBe('small')
    await change('small', (node) => ({ ...node, spec: { ...node.spec, unschedulable: true } }))
    await cluster.settle()
    expect(await place('after', { nodeSelector: { disk: 'hdd' } })).toBeUndefined()
    await cluster.advance(60_000)
    expect(isReady(get('before'))).toBe(true)
    await change('small', (node) => ({ ...node, spec: { ...node.spec, unschedulable: false } }))
    await cluster.settle()
    expect(get('after').spec.nodeName).toBe('small')
  })

  it('that joins gets the pending pods', async () => {
    expect(await place('p', { nodeSelector: { disk: 'nvme' } })).toBeUndefined()
    await cluster.create('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'new', labels: { disk: 'nvme' } },
    })
    await cluster.advance(5_000)
    expect(get('p').spec.nodeName).toBe('new')
    expect(isReady(get('p'))).toBe(true)
  })

  it('with a NoExecute taint loses the pods that do not tolerate it, or when their toleration expires', async () => {
    const nodeSelector = { disk: 'hdd' }
    const toleration = { key: 'maintenance', operator: 'Exists', effect: 'NoExecute' }
    await place('leaves', { nodeSelector })
    await place('leaves-later', { nodeSelector, tolerations: [{ ...toleration, tolerationSeconds: 60 }] })
    await place('stays', { nodeSelector, tolerations: [toleration] })
    await cluster.advance(5_000)
    const taints = [{ key: 'maintenance', effect: 'NoExecute' }]
    await change('small', (node) => ({ ...node, spec: { ...node.spec, taints } }))
    await cluster.advance(10_000)
    const names = () => cluster.pods.list().map(({ metadata }) => metadata.name)
    expect(names()).toEqual(['leaves-later', 'stays'])
    await cluster.advance(60_000)
    expect(names()).toEqual(['stays'])
  })

  it('that is deleted loses its pods, and controllers replace them elsewhere', async () => {
    const template = podTemplate({ labels: { app: 'web' } })
    await cluster.deployments.create(deployment('web', { replicas: 4, template }))
    await cluster.advance(5_000)
    const small = cluster.of<Node>('nodes').get('', 'small')
    if (small === undefined) throw new Error('no node')
    await cluster.of<Node>('nodes').delete(small)
    await cluster.advance(60_000)
    expect(cluster.pods.list().map((object) => object.spec.nodeName)).toEqual(Array(4).fill('large'))
    expect(cluster.pods.list().every(isReady)).toBe(true)
  })

  it('that is not ready makes its pods unready and loses them when their tolerations expire', async () => {
    const tolerations = [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ]
    const template = podTemplate({ labels: { app: 'web' }, spec: { tolerations } })
    await cluster.deployments.create(deployment('web', { replicas: 2, template }))
    await cluster.advance(5_000)
    const setReady = async (status: 'True' | 'False') => {
      const node = cluster.of<Node>('nodes').get('', 'small')
      if (node === undefined) throw new Error('no node')
      const conditions = (node.status?.conditions ?? []).map((condition) =>
        condition.type === 'Ready' ? { ...condition, status } : condition,
      )
      await cluster.of<Node>('nodes').updateStatus(node, { ...node.status, conditions })
    }
    await setReady('False')
    await cluster.advance(10_000)
    expect(cluster.pods.list().filter(isReady)).toHaveLength(1)
    await cluster.advance(300_000)
    expect(cluster.pods.list().filter(isReady)).toHaveLength(2)
    // No kubelet confirms that the old pod has stopped.
    expect(cluster.pods.list()).toHaveLength(3)
    await setReady('True')
    await cluster.advance(60_000)
    expect(cluster.pods.list()).toHaveLength(2)
    expect(cluster.of<Node>('nodes').get('', 'small')?.spec?.taints ?? []).toEqual([])
  })
})

it('the scheduler registers nodes once, and does not write them while nothing changes', async () => {
  const small = cluster.of<Node>('nodes').get('', 'small')
  expect(small?.status).toMatchObject({ capacity: { cpu: '1', memory: '1Gi', pods: '2500' } })
  expect(small?.metadata.labels).toMatchObject({ 'kubernetes.io/hostname': 'small', 'kubernetes.io/os': 'linux' })
  const addresses = cluster
    .of<Node>('nodes')
    .list()
    .map(({ status }) => status?.addresses?.[0]?.address)
  expect(new Set(addresses).size).toBe(3)
  const { writes } = cluster.api
  await cluster.advance(24 * 3_600_000)
  await cluster.restart()
  expect(cluster.api.writes).toBe(writes)
})
