import { afterEach, beforeEach, expect, it } from 'vitest'
import { timestamp } from '../clock.ts'
import { findCondition } from './conditions.ts'
import type { PodDisruptionBudget } from './kinds/cluster.ts'
import type { Draft } from './kinds/meta.ts'
import type { Deployment } from './kinds/workloads.ts'
import { deployment, pod } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster()
  await cluster.deployments.create(deployment('web', { replicas: 4 }))
  await cluster.advance(5_000)
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

const budgets = () => cluster.of<PodDisruptionBudget>('poddisruptionbudgets.policy')

async function create(spec: Partial<PodDisruptionBudget['spec']>): Promise<void> {
  const draft: Draft<PodDisruptionBudget> = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  }
  await budgets().create(draft)
  await cluster.settle()
}

const status = () => budgets().get('default', 'web')?.status

it('a PodDisruptionBudget allows as many disruptions as leave the minimum available', async () => {
  await create({ minAvailable: 3 })
  expect(status()).toMatchObject({
    observedGeneration: 1,
    expectedPods: 4,
    currentHealthy: 4,
    desiredHealthy: 3,
    disruptionsAllowed: 1,
  })
  expect(findCondition(status()?.conditions, 'DisruptionAllowed')).toMatchObject({
    status: 'True',
    reason: 'SufficientPods',
  })
})

it('a PodDisruptionBudget computes percentages from the desired replicas, not from existing pods', async () => {
  await create({ maxUnavailable: '50%' })
  expect(status()).toMatchObject({ expectedPods: 4, desiredHealthy: 2, disruptionsAllowed: 2 })
  await cluster.change<Deployment>('deployments.apps', 'default/web', (object) => ({
    ...object,
    spec: { ...object.spec, replicas: 10 },
  }))
  await cluster.settle()
  expect(status()).toMatchObject({ expectedPods: 10, desiredHealthy: 5, currentHealthy: 4, disruptionsAllowed: 0 })
  await cluster.advance(5_000)
  expect(status()).toMatchObject({ currentHealthy: 10, disruptionsAllowed: 5 })
})

it('a PodDisruptionBudget allows none while too few pods are healthy', async () => {
  await create({ minAvailable: 4 })
  const [first] = cluster.pods.list()
  if (first === undefined) throw new Error('no pod')
  await cluster.pods.delete(first)
  await cluster.settle()
  expect(status()).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 0 })
  expect(findCondition(status()?.conditions, 'DisruptionAllowed')).toMatchObject({
    status: 'False',
    reason: 'InsufficientPods',
  })
})

it('a PodDisruptionBudget records an eviction until the pod is deleted', async () => {
  await create({ minAvailable: 3 })
  const [first] = cluster.pods.list()
  const budget = budgets().get('default', 'web')
  if (first === undefined || budget?.status === undefined) throw new Error('nothing there')
  const disruptedPods = { [first.metadata.name]: timestamp(cluster.clock.now()) }
  await budgets().updateStatus(budget, { ...budget.status, disruptionsAllowed: 0, disruptedPods })
  await cluster.settle()
  expect(status()).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 0, disruptedPods })
  await cluster.pods.delete(first)
  await cluster.advance(10_000)
  expect(status()).toMatchObject({ currentHealthy: 4, disruptionsAllowed: 1 })
  expect(status()?.disruptedPods).toBeUndefined()
})

it('a PodDisruptionBudget drops an eviction that did not happen', async () => {
  await create({ minAvailable: 3 })
  const [first] = cluster.pods.list()
  const budget = budgets().get('default', 'web')
  if (first === undefined || budget?.status === undefined) throw new Error('nothing there')
  const disruptedPods = { [first.metadata.name]: timestamp(cluster.clock.now()) }
  await budgets().updateStatus(budget, { ...budget.status, disruptionsAllowed: 0, disruptedPods })
  await cluster.advance(300_000)
  expect(status()).toMatchObject({ disruptionsAllowed: 1 })
  expect(cluster.clock.pendingTimers).toBe(0)
})

it('a PodDisruptionBudget counts pods without a controller individually', async () => {
  await cluster.pods.create(pod('alone', { labels: { app: 'alone' } }))
  await create({ selector: { matchLabels: { app: 'alone' } }, maxUnavailable: 1 })
  await cluster.advance(5_000)
  expect(status()).toMatchObject({ expectedPods: 1, desiredHealthy: 0, currentHealthy: 1, disruptionsAllowed: 1 })
})
