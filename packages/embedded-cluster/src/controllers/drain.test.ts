import { afterEach, beforeEach, expect, it } from 'vitest'
import { StatusError } from '../status-error.ts'
import type { Node, PodDisruptionBudget } from './kinds/cluster.ts'
import type { Draft } from './kinds/meta.ts'
import { isActive, isReady } from './kinds/pods.ts'
import { deployment, pod } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({ nodes: 2 })
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

/** Requests the eviction of every pod on the node; returns how many were rejected. */
async function evictAll(node: string): Promise<number> {
  let refused = 0
  for (const { metadata, spec } of cluster.pods.list().filter(isActive)) {
    if (spec.nodeName !== node) continue
    const { name, namespace = '' } = metadata
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
    try {
      await cluster.api.create('pods', eviction, { subresource: 'eviction' })
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 429) throw error
      refused += 1
    }
  }
  return refused
}

it('draining a node moves its pods without violating a disruption budget', async () => {
  await cluster.deployments.create(deployment('web', { replicas: 4 }))
  const budget: Draft<PodDisruptionBudget> = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 3 },
  }
  await cluster.of<PodDisruptionBudget>('poddisruptionbudgets.policy').create(budget)
  await cluster.advance(5_000)
  await cluster.change<Node>('nodes', 'node-1', (node) => ({ ...node, spec: { ...node.spec, unschedulable: true } }))
  let fewest = 4
  cluster.api.subscribe(() => {
    fewest = Math.min(fewest, cluster.pods.list().filter((object) => isActive(object) && isReady(object)).length)
  })
  expect(await evictAll('node-1')).toBe(1)
  for (let round = 0; round < 10; round++) {
    await cluster.advance(5_000)
    await evictAll('node-1')
  }
  expect(cluster.pods.list().map(({ spec }) => spec.nodeName)).toEqual(Array(4).fill('node-2'))
  expect(cluster.pods.list().every(isReady)).toBe(true)
  expect(fewest).toBe(3)
})

it('a pod without a controller is not replaced after its eviction', async () => {
  await cluster.pods.create(pod('alone', { spec: { nodeName: 'node-1' } }))
  await cluster.advance(5_000)
  await evictAll('node-1')
  await cluster.advance(60_000)
  expect(cluster.pods.list()).toEqual([])
})
