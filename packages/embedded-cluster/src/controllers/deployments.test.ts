import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StatusError } from '../status-error.ts'
import { findCondition } from './conditions.ts'
import type { Condition } from './kinds/meta.ts'
import { isActive, isReady, type Pod } from './kinds/pods.ts'
import type { Deployment, ReplicaSet } from './kinds/workloads.ts'
import { deployment, podTemplate } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster()
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

function web(): Deployment {
  const found = cluster.deployments.get('default', 'web')
  if (found === undefined) throw new Error('the Deployment does not exist')
  return found
}

function condition(type: string): Condition | undefined {
  return findCondition(web().status?.conditions, type)
}

function setOf(image: string): ReplicaSet | undefined {
  return cluster.replicaSets.list().find((set) => set.spec.template.spec.containers[0]?.image === image)
}

function podsOf(image: string): Pod[] {
  return cluster.pods.list().filter((pod) => pod.spec.containers[0]?.image === image)
}

function change(spec: Partial<Deployment['spec']>): Promise<Deployment> {
  return cluster.change<Deployment>('deployments.apps', 'default/web', (object) => ({
    ...object,
    spec: { ...object.spec, ...spec },
  }))
}

function changeImage(image: string, more: Partial<Deployment['spec']> = {}): Promise<Deployment> {
  return change({ template: podTemplate({ labels: { app: 'web' }, image }), ...more })
}

describe('a new Deployment', () => {
  it('gets its pods and a status that kubectl rollout status, Helm and kstatus understand', async () => {
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(5_000)
    expect(cluster.pods.list().filter(isReady)).toHaveLength(3)
    expect(web().status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      updatedReplicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
    })
    expect(web().status?.unavailableReplicas).toBeUndefined()
    expect(condition('Available')).toMatchObject({ status: 'True', reason: 'MinimumReplicasAvailable' })
    expect(condition('Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' })
    expect(web().metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '1' })
  })

  it('is not available before its pods are', async () => {
    await cluster.deployments.create(deployment('web'))
    await cluster.settle()
    expect(condition('Available')).toMatchObject({ status: 'False', reason: 'MinimumReplicasUnavailable' })
    expect(web().status).toMatchObject({ observedGeneration: 1, unavailableReplicas: 3 })
  })

  it('reports its progress', async () => {
    const reasons = new Set<string | undefined>()
    const stop = cluster.api.subscribe(({ resource }) => {
      if (resource === 'deployments.apps') reasons.add(condition('Progressing')?.reason)
    })
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(5_000)
    stop()
    expect([...reasons]).toEqual([undefined, 'NewReplicaSetCreated', 'ReplicaSetUpdated', 'NewReplicaSetAvailable'])
  })

  it('names its ReplicaSet after the hash of the template and labels pods with it', async () => {
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(5_000)
    const [set] = cluster.replicaSets.list()
    const hash = set?.metadata.labels?.['pod-template-hash']
    expect(hash).toMatch(/^[a-z0-9]+$/)
    expect(set?.metadata.name).toBe(`web-${hash}`)
    expect(set?.spec.selector.matchLabels).toEqual({ app: 'web', 'pod-template-hash': hash })
    for (const pod of cluster.pods.list()) {
      expect(pod.metadata.labels).toEqual({ app: 'web', 'pod-template-hash': hash })
      expect(pod.metadata.ownerReferences).toMatchObject([{ kind: 'ReplicaSet', controller: true }])
    }
  })

  it('waits for minReadySeconds before pods count as available', async () => {
    await cluster.deployments.create(deployment('web', { minReadySeconds: 30 }))
    await cluster.advance(10_000)
    expect(web().status).toMatchObject({ readyReplicas: 3 })
    expect(condition('Available')?.status).toBe('False')
    await cluster.advance(30_000)
    expect(web().status).toMatchObject({ availableReplicas: 3 })
    expect(condition('Available')?.status).toBe('True')
  })

  it('needs few writes', async () => {
    const { writes } = cluster.api
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(60_000)
    // Per pod: created, bound, creating, running. The rest: creation and status of Deployment and ReplicaSet.
    expect(cluster.api.writes - writes).toBeLessThanOrEqual(3 * 4 + 8)
  })

  it('is idle once it is rolled out: hours pass without a write or a timer', async () => {
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(60_000)
    const { writes } = cluster.api
    await cluster.advance(6 * 3_600_000)
    expect(cluster.api.writes).toBe(writes)
    expect(cluster.clock.pendingTimers).toBe(0)
  })
})

describe('an update of a Deployment', () => {
  beforeEach(async () => {
    await cluster.deployments.create(deployment('web', { replicas: 4 }))
    await cluster.advance(10_000)
  })

  it('replaces every pod, keeps the old ReplicaSet at zero and increments the revision', async () => {
    await changeImage('web:2')
    await cluster.advance(60_000)
    expect(podsOf('web:2').filter(isReady)).toHaveLength(4)
    expect(podsOf('web:1')).toHaveLength(0)
    expect(setOf('web:1')?.spec.replicas).toBe(0)
    expect(web().metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '2' })
    expect(web().status).toMatchObject({ observedGeneration: 2, replicas: 4, updatedReplicas: 4, availableReplicas: 4 })
    expect(condition('Progressing')).toMatchObject({ reason: 'NewReplicaSetAvailable' })
  })

  it('never exceeds maxSurge or maxUnavailable meanwhile', async () => {
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 1 }
    const seen = { most: 0, leastReady: Number.POSITIVE_INFINITY }
    const stop = cluster.api.subscribe(({ resource }) => {
      if (resource !== 'pods') return
      const active = cluster.pods.list().filter(isActive)
      seen.most = Math.max(seen.most, active.length)
      seen.leastReady = Math.min(seen.leastReady, active.filter(isReady).length)
    })
    await changeImage('web:2', { strategy: { type: 'RollingUpdate', rollingUpdate } })
    await cluster.advance(60_000)
    stop()
    expect(podsOf('web:2').filter(isReady)).toHaveLength(4)
    expect(seen).toEqual({ most: 5, leastReady: 3 })
  })

  it('stops old pods before it starts new ones when the strategy is Recreate', async () => {
    let together = 0
    const stop = cluster.api.subscribe(() => {
      if (podsOf('web:1').length > 0 && podsOf('web:2').length > 0) together += 1
    })
    await changeImage('web:2', { strategy: { type: 'Recreate' } })
    await cluster.advance(60_000)
    stop()
    expect(together).toBe(0)
    expect(podsOf('web:2').filter(isReady)).toHaveLength(4)
    expect(condition('Progressing')).toMatchObject({ reason: 'NewReplicaSetAvailable' })
  })

  it('reuses the earlier ReplicaSet when the earlier template is restored', async () => {
    const first = setOf('web:1')?.metadata.uid
    await changeImage('web:2')
    await cluster.advance(60_000)
    await changeImage('web:1')
    await cluster.advance(60_000)
    expect(cluster.replicaSets.list()).toHaveLength(2)
    expect(setOf('web:1')).toMatchObject({ metadata: { uid: first }, spec: { replicas: 4 } })
    expect(setOf('web:1')?.metadata.annotations).toMatchObject({
      'deployment.kubernetes.io/revision': '3',
      'deployment.kubernetes.io/revision-history': '1',
    })
    expect(web().metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '3' })
  })

  it('keeps the old pods and reports the deadline when the new ones do not become available', async () => {
    await changeImage('web:does-not-exist')
    await cluster.advance(700_000)
    expect(podsOf('web:1').filter(isReady).length).toBeGreaterThanOrEqual(3)
    expect(condition('Progressing')).toMatchObject({ status: 'False', reason: 'ProgressDeadlineExceeded' })
    expect(condition('Available')?.status).toBe('True')
    const { writes } = cluster.api
    await cluster.advance(3_600_000)
    expect(cluster.api.writes).toBe(writes)
  })

  it('recovers from a broken update when the template is fixed', async () => {
    await changeImage('web:does-not-exist')
    await cluster.advance(700_000)
    await changeImage('web:3')
    await cluster.advance(60_000)
    expect(podsOf('web:3').filter(isReady)).toHaveLength(4)
    expect(podsOf('web:does-not-exist')).toHaveLength(0)
    expect(condition('Progressing')).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' })
  })

  it('waits while the Deployment is paused and continues when it is resumed', async () => {
    await changeImage('web:2', { paused: true })
    await cluster.advance(60_000)
    expect(podsOf('web:2')).toHaveLength(0)
    expect(condition('Progressing')).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused' })
    expect(web().status?.observedGeneration).toBe(2)
    await change({ paused: false })
    await cluster.advance(60_000)
    expect(podsOf('web:2').filter(isReady)).toHaveLength(4)
    expect(condition('Progressing')).toMatchObject({ reason: 'NewReplicaSetAvailable' })
  })

  it('deletes the oldest revisions beyond the limit', async () => {
    await change({ revisionHistoryLimit: 2 })
    for (const version of [2, 3, 4, 5]) {
      await changeImage(`web:${version}`)
      await cluster.advance(60_000)
    }
    const images = cluster.replicaSets.list().map((set) => set.spec.template.spec.containers[0]?.image)
    expect(images.sort()).toEqual(['web:3', 'web:4', 'web:5'])
  })

  it('uses another name when two templates have the same hash', async () => {
    const hash = setOf('web:1')?.metadata.labels?.['pod-template-hash'] ?? ''
    const taken = setOf('web:1')
    if (taken === undefined) throw new Error('no ReplicaSet')
    // A set with another template has the name that the ReplicaSet of the current template would get.
    await cluster.of('deployments.apps').delete(web(), { propagationPolicy: 'Orphan' })
    await cluster.advance(1_000)
    await cluster.change<ReplicaSet>('replicasets.apps', `default/web-${hash}`, (set) => ({
      ...set,
      metadata: { ...set.metadata, labels: {} },
      spec: {
        ...set.spec,
        template: podTemplate({ labels: set.spec.template.metadata?.labels ?? {}, image: 'other' }),
      },
    }))
    await cluster.deployments.create(deployment('web', { replicas: 1 }))
    await cluster.advance(60_000)
    expect(web().status).toMatchObject({ collisionCount: 1, availableReplicas: 1 })
  })
})

describe('scaling a Deployment', () => {
  beforeEach(async () => {
    await cluster.deployments.create(deployment('web', { replicas: 4 }))
    await cluster.advance(10_000)
  })

  it('adds and removes pods without a new revision', async () => {
    await change({ replicas: 6 })
    await cluster.advance(10_000)
    expect(web().status).toMatchObject({ replicas: 6, availableReplicas: 6, observedGeneration: 2 })
    await change({ replicas: 1 })
    await cluster.advance(10_000)
    expect(web().status).toMatchObject({ replicas: 1, availableReplicas: 1, observedGeneration: 3 })
    expect(cluster.replicaSets.list()).toHaveLength(1)
    expect(condition('Progressing')).toMatchObject({ reason: 'NewReplicaSetAvailable' })
  })

  it('scales to zero and back', async () => {
    await change({ replicas: 0 })
    await cluster.advance(10_000)
    expect(cluster.pods.list()).toHaveLength(0)
    expect(web().status?.replicas).toBeUndefined()
    await change({ replicas: 2 })
    await cluster.advance(10_000)
    expect(web().status).toMatchObject({ replicas: 2, availableReplicas: 2 })
  })

  it('distributes new replicas between old and new in the middle of an update', async () => {
    await changeImage('web:does-not-exist', {
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
    })
    await cluster.advance(10_000)
    expect([setOf('web:1')?.spec.replicas, setOf('web:does-not-exist')?.spec.replicas]).toEqual([4, 2])
    await change({ replicas: 10 })
    await cluster.advance(10_000)
    expect([setOf('web:1')?.spec.replicas, setOf('web:does-not-exist')?.spec.replicas]).toEqual([8, 4])
  })

  it('works on a paused Deployment', async () => {
    await change({ paused: true, replicas: 5 })
    await cluster.advance(10_000)
    expect(web().status).toMatchObject({ replicas: 5, availableReplicas: 5 })
  })
})

describe('the ReplicaSets of a Deployment', () => {
  it('are adopted when they match and have no controller', async () => {
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(10_000)
    const uids = cluster.pods.list().map((pod) => pod.metadata.uid)
    await cluster.deployments.delete(web(), { propagationPolicy: 'Orphan' })
    await cluster.advance(10_000)
    expect(cluster.pods.list()).toHaveLength(3)
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(10_000)
    expect(cluster.pods.list().map((pod) => pod.metadata.uid)).toEqual(uids)
    expect(cluster.replicaSets.list()[0]?.metadata.ownerReferences).toMatchObject([{ uid: web().metadata.uid }])
  })

  it('report to the Deployment when pods cannot be created, and recover automatically', async () => {
    cluster.api.rejectWrite = (verb, resource) => {
      if (verb === 'create' && resource === 'pods') throw new StatusError(403, 'Forbidden', 'quota exceeded')
    }
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(1_000)
    expect(condition('ReplicaFailure')).toMatchObject({
      status: 'True',
      reason: 'FailedCreate',
      message: 'quota exceeded',
    })
    cluster.api.rejectWrite = () => undefined
    await cluster.advance(600_000)
    expect(web().status).toMatchObject({ availableReplicas: 3 })
    expect(condition('ReplicaFailure')).toBeUndefined()
    expect(new Set(cluster.problems.splice(0).map(({ controller }) => controller))).toEqual(new Set(['replica-sets']))
  })

  it('are deleted with the Deployment, and so are their pods', async () => {
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(10_000)
    await cluster.deployments.delete(web())
    await cluster.advance(60_000)
    expect(cluster.replicaSets.list()).toHaveLength(0)
    expect(cluster.pods.list()).toHaveLength(0)
  })
})
