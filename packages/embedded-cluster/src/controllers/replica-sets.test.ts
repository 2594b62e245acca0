import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StatusError } from '../status-error.ts'
import { controllerOf, type Draft } from './kinds/meta.ts'
import { isActive, isReady, type Pod } from './kinds/pods.ts'
import type { ReplicaSet } from './kinds/workloads.ts'
import { pod, podTemplate } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster()
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

function replicaSet(spec: Partial<ReplicaSet['spec']> = {}): Draft<ReplicaSet> {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: podTemplate(), ...spec },
  }
}

function set(): ReplicaSet {
  const found = cluster.replicaSets.get('default', 'web')
  if (found === undefined) throw new Error('the ReplicaSet does not exist')
  return found
}

async function scaleTo(replicas: number): Promise<void> {
  await cluster.change<ReplicaSet>('replicasets.apps', 'default/web', (object) => ({
    ...object,
    spec: { ...object.spec, replicas },
  }))
  await cluster.advance(10_000)
}

const names = () => cluster.pods.list().map(({ metadata }) => metadata.name)

describe('a ReplicaSet', () => {
  it('creates its pods and reports them', async () => {
    await cluster.replicaSets.create(replicaSet())
    await cluster.advance(5_000)
    expect(cluster.pods.list().filter(isReady)).toHaveLength(3)
    expect(set().status).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      observedGeneration: 1,
    })
  })

  it('with more replicas than fit into memory creates pods until the cluster is full', async () => {
    await cluster.stop()
    cluster = await startTestCluster({}, { maxObjects: 150 })
    await cluster.replicaSets.create(replicaSet({ replicas: 2_147_483_647 }))
    await cluster.settle()
    expect(cluster.pods.list().length).toBeGreaterThan(50)
    expect(set().status?.conditions).toMatchObject([{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }])
    expect(cluster.problems.splice(0).map(({ error }) => String(error))).toContainEqual(
      expect.stringContaining('the cluster has 150 objects and cannot store more'),
    )
    await scaleTo(1)
    expect(cluster.pods.list()).toHaveLength(1)
    cluster.problems.splice(0)
  })

  it('replaces pods that are deleted, failed or evicted', async () => {
    await cluster.replicaSets.create(replicaSet())
    await cluster.advance(5_000)
    const [first, second] = cluster.pods.list()
    if (first === undefined || second === undefined) throw new Error('no pods')
    await cluster.pods.delete(first)
    await cluster.pods.updateStatus(second, { ...second.status, phase: 'Failed' })
    await cluster.advance(10_000)
    expect(cluster.pods.list().filter((object) => isActive(object) && isReady(object))).toHaveLength(3)
    expect(names()).not.toContain(first.metadata.name)
    expect(set().status?.replicas).toBe(3)
  })

  it('adopts pods that match and have no controller, before it creates any', async () => {
    await cluster.pods.create(pod('mine'))
    await cluster.pods.create(pod('not-mine', { labels: { app: 'other' } }))
    await cluster.replicaSets.create(replicaSet({ replicas: 2 }))
    await cluster.advance(5_000)
    expect(names()).toHaveLength(3)
    expect(controllerOf(cluster.pods.get('default', 'mine') as Pod)?.uid).toBe(set().metadata.uid)
    expect(controllerOf(cluster.pods.get('default', 'not-mine') as Pod)).toBeUndefined()
  })

  it('adopts a pod that matches later, and deletes a surplus one', async () => {
    await cluster.replicaSets.create(replicaSet({ replicas: 1 }))
    await cluster.pods.create(pod('later', { labels: { app: 'other' } }))
    await cluster.advance(5_000)
    await cluster.change<Pod>('pods', 'default/later', (object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { app: 'web' } },
    }))
    await cluster.advance(5_000)
    expect(names()).toHaveLength(1)
    expect(set().status?.replicas).toBe(1)
  })

  it('releases a pod whose labels no longer match and creates another one', async () => {
    await cluster.replicaSets.create(replicaSet({ replicas: 1 }))
    await cluster.advance(5_000)
    const [name = ''] = names()
    await cluster.change<Pod>('pods', `default/${name}`, (object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { app: 'quarantine' } },
    }))
    await cluster.advance(5_000)
    expect(names()).toHaveLength(2)
    expect(controllerOf(cluster.pods.get('default', name) as Pod)).toBeUndefined()
  })

  it('ignores pods of other controllers', async () => {
    await cluster.replicaSets.create(replicaSet({ replicas: 1 }))
    const other = replicaSet({ replicas: 2 })
    await cluster.replicaSets.create({ ...other, metadata: { ...other.metadata, name: 'other' } })
    await cluster.advance(5_000)
    expect(names()).toHaveLength(3)
    await scaleTo(0)
    expect(names()).toHaveLength(2)
  })

  it('attempts one pod instead of a hundred when they are rejected, and reports why', async () => {
    let tried = 0
    cluster.api.rejectWrite = (verb, resource) => {
      if (verb !== 'create' || resource !== 'pods') return
      tried += 1
      throw new StatusError(403, 'Forbidden', 'no more pods')
    }
    await cluster.replicaSets.create(replicaSet({ replicas: 100 }))
    await cluster.settle()
    // Once, and again because its own status update is an event.
    expect(tried).toBe(2)
    expect(set().status?.conditions).toMatchObject([
      { type: 'ReplicaFailure', status: 'True', message: 'no more pods' },
    ])
    cluster.api.rejectWrite = () => undefined
    await cluster.advance(10_000)
    expect(set().status).toMatchObject({ readyReplicas: 100 })
    expect(set().status?.conditions).toBeUndefined()
    cluster.problems.length = 0
  })
})

describe('scaling a ReplicaSet down', () => {
  it('deletes pods that are not ready first', async () => {
    await cluster.pods.create(pod('broken', { annotations: { 'simulator.reeve.dev/fail': 'NotReady' } }))
    await cluster.replicaSets.create(replicaSet())
    await cluster.advance(5_000)
    await scaleTo(2)
    expect(names()).toHaveLength(2)
    expect(names()).not.toContain('broken')
  })

  it('deletes pods without a node before all others', async () => {
    await cluster.pods.create(pod('homeless', { spec: { nodeSelector: { disk: 'none' } } }))
    await cluster.replicaSets.create(replicaSet())
    await cluster.advance(5_000)
    await scaleTo(2)
    expect(names()).not.toContain('homeless')
  })

  it('respects the deletion cost annotation of pods', async () => {
    await cluster.replicaSets.create(replicaSet())
    await cluster.advance(5_000)
    const [cheap = ''] = names()
    for (const name of names()) {
      const cost = name === cheap ? '-10' : '10'
      await cluster.change<Pod>('pods', `default/${name}`, (object) => ({
        ...object,
        metadata: { ...object.metadata, annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } },
      }))
    }
    await scaleTo(2)
    expect(names()).not.toContain(cheap)
  })

  it('deletes the youngest of equals', async () => {
    await cluster.replicaSets.create(replicaSet())
    await cluster.advance(5_000)
    const old = names()
    await scaleTo(5)
    await scaleTo(3)
    expect(names()).toEqual(old)
  })
})
