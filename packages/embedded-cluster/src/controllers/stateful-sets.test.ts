import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PersistentVolumeClaim } from './kinds/cluster.ts'
import { isReady, type Pod } from './kinds/pods.ts'
import type { ControllerRevision, StatefulSet } from './kinds/workloads.ts'
import { podTemplate, statefulSet } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster()
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

const sets = () => cluster.of<StatefulSet>('statefulsets.apps')
const claims = () => cluster.of<PersistentVolumeClaim>('persistentvolumeclaims')

async function create(spec: Partial<StatefulSet['spec']> = {}): Promise<void> {
  const template = podTemplate({ labels: { app: 'db' }, image: 'db:1' })
  await sets().create(statefulSet('db', { template, ...spec }))
}

function db(): StatefulSet {
  const found = sets().get('default', 'db')
  if (found === undefined) throw new Error('the StatefulSet does not exist')
  return found
}

async function change(spec: Partial<StatefulSet['spec']>): Promise<void> {
  await cluster.change<StatefulSet>('statefulsets.apps', 'default/db', (object) => ({
    ...object,
    spec: { ...object.spec, ...spec },
  }))
}

const changeImage = (image: string) => change({ template: podTemplate({ labels: { app: 'db' }, image }) })
const names = () => cluster.pods.list().map(({ metadata }) => metadata.name)
const images = () => cluster.pods.list().map(({ spec }) => spec.containers[0]?.image)

function pod(name: string): Pod {
  const found = cluster.pods.get('default', name)
  if (found === undefined) throw new Error(`pod ${name} does not exist`)
  return found
}

async function annotate(name: string, annotations: Record<string, string>): Promise<void> {
  await cluster.change<Pod>('pods', `default/${name}`, (object) => ({
    ...object,
    metadata: { ...object.metadata, annotations },
  }))
  await cluster.settle()
}

describe('a StatefulSet', () => {
  it('of the largest size creates pods in batches', async () => {
    await cluster.stop()
    cluster = await startTestCluster({}, { maxObjects: 150 })
    await create({ replicas: 2_147_483_647, podManagementPolicy: 'Parallel' })
    await cluster.advance(1_000)
    expect(names().length).toBeGreaterThan(50)
    expect(cluster.problems.splice(0).length).toBeGreaterThan(0)
  })

  it('creates its pods in order, each after the previous one is ready', async () => {
    await create()
    await cluster.settle()
    expect(names()).toEqual(['db-0'])
    await cluster.advance(1_000)
    expect(names()).toEqual(['db-0', 'db-1'])
    await cluster.advance(5_000)
    expect(names()).toEqual(['db-0', 'db-1', 'db-2'])
    expect(db().status).toMatchObject({
      observedGeneration: 1,
      replicas: 3,
      readyReplicas: 3,
      availableReplicas: 3,
      currentReplicas: 3,
      updatedReplicas: 3,
    })
    expect(db().status?.currentRevision).toBe(db().status?.updateRevision)
  })

  it('creates them together with the policy Parallel', async () => {
    await create({ podManagementPolicy: 'Parallel' })
    await cluster.settle()
    expect(names()).toEqual(['db-0', 'db-1', 'db-2'])
  })

  it('gives every pod its identity', async () => {
    await create({ ordinals: { start: 5 }, replicas: 1 })
    await cluster.advance(5_000)
    expect(pod('db-5')).toMatchObject({
      metadata: {
        labels: {
          app: 'db',
          'statefulset.kubernetes.io/pod-name': 'db-5',
          'apps.kubernetes.io/pod-index': '5',
          'controller-revision-hash': db().status?.currentRevision,
        },
      },
      spec: { hostname: 'db-5', subdomain: 'db' },
    })
  })

  it('waits for a pod that does not become ready', async () => {
    const annotations = { 'simulator.reeve.dev/fail': 'NotReady' }
    await create({ template: podTemplate({ labels: { app: 'db' }, annotations }) })
    await cluster.advance(60_000)
    expect(names()).toEqual(['db-0'])
    await annotate('db-0', {})
    await cluster.advance(5_000)
    expect(names()).toEqual(['db-0', 'db-1'])
  })

  it('scales down from the highest ordinal, one at a time', async () => {
    await create()
    await cluster.advance(10_000)
    const order: string[] = []
    cluster.api.subscribe(({ type, resource, object }) => {
      if (type === 'DELETED' && resource === 'pods') order.push(String((object as unknown as Pod).metadata.name))
    })
    await change({ replicas: 0 })
    await cluster.advance(60_000)
    expect(order).toEqual(['db-2', 'db-1', 'db-0'])
    expect(db().status).toMatchObject({ replicas: 0 })
  })

  it('replaces a pod that is deleted or has terminated, with the same name', async () => {
    await create()
    await cluster.advance(10_000)
    const uids = cluster.pods.list().map(({ metadata }) => metadata.uid)
    await cluster.pods.delete(pod('db-1'))
    await cluster.pods.updateStatus(pod('db-2'), { ...pod('db-2').status, phase: 'Failed' })
    await cluster.advance(30_000)
    expect(names().sort()).toEqual(['db-0', 'db-1', 'db-2'])
    expect(cluster.pods.list().every(isReady)).toBe(true)
    expect(uids).toContain(pod('db-0').metadata.uid)
    expect(uids).not.toContain(pod('db-1').metadata.uid)
    expect(uids).not.toContain(pod('db-2').metadata.uid)
  })

  it('adopts the pods of an earlier one unchanged', async () => {
    await create()
    await cluster.advance(10_000)
    const uids = cluster.pods.list().map(({ metadata }) => metadata.uid)
    await sets().delete(db(), { propagationPolicy: 'Orphan' })
    await cluster.advance(10_000)
    await create()
    await cluster.advance(60_000)
    expect(cluster.pods.list().map(({ metadata }) => metadata.uid)).toEqual(uids)
    expect(pod('db-0').metadata.ownerReferences).toMatchObject([{ uid: db().metadata.uid }])
    expect(db().status).toMatchObject({ readyReplicas: 3, updatedReplicas: 3 })
  })

  it('is idle when it is done', async () => {
    await create()
    await cluster.advance(60_000)
    const { writes } = cluster.api
    await cluster.advance(6 * 3_600_000)
    expect(cluster.api.writes).toBe(writes)
    expect(cluster.clock.pendingTimers).toBe(0)
  })
})

describe('an update of a StatefulSet', () => {
  beforeEach(async () => {
    await create()
    await cluster.advance(10_000)
  })

  it('replaces pods from the highest ordinal, never more than one at a time', async () => {
    let fewest = 3
    const order: string[] = []
    cluster.api.subscribe(({ type, resource, object }) => {
      if (resource !== 'pods') return
      fewest = Math.min(fewest, cluster.pods.list().filter((other) => isReady(other)).length)
      if (type === 'DELETED') order.push((object as unknown as Pod).metadata.name)
    })
    await changeImage('db:2')
    await cluster.advance(60_000)
    expect(order).toEqual(['db-2', 'db-1', 'db-0'])
    expect(fewest).toBe(2)
    expect(images()).toEqual(['db:2', 'db:2', 'db:2'])
    expect(db().status).toMatchObject({ updatedReplicas: 3, currentReplicas: 3, readyReplicas: 3 })
    expect(db().status?.currentRevision).toBe(db().status?.updateRevision)
  })

  it('stops at the partition, and replaces pods below it with the old template', async () => {
    await change({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } })
    await changeImage('db:2')
    await cluster.advance(60_000)
    expect(images()).toEqual(['db:1', 'db:1', 'db:2'])
    expect(db().status).toMatchObject({ updatedReplicas: 1, currentReplicas: 2 })
    expect(db().status?.currentRevision).not.toBe(db().status?.updateRevision)
    await cluster.pods.delete(pod('db-0'))
    await cluster.advance(60_000)
    expect(images().sort()).toEqual(['db:1', 'db:1', 'db:2'])
  })

  it('replaces a pod that a broken update broke, at any ordinal, with the policy Parallel', async () => {
    await sets().delete(db())
    await cluster.advance(60_000)
    await create({ podManagementPolicy: 'Parallel' })
    await cluster.advance(10_000)
    await cluster.pods.delete(pod('db-0'))
    await changeImage('db:does-not-exist')
    await cluster.advance(10_000)
    await changeImage('db:3')
    await cluster.advance(60_000)
    expect(images()).toEqual(['db:3', 'db:3', 'db:3'])
    expect(cluster.pods.list().every(isReady)).toBe(true)
  })

  it('keeps pods until they are deleted when the strategy is OnDelete', async () => {
    await change({ updateStrategy: { type: 'OnDelete' } })
    await changeImage('db:2')
    await cluster.advance(60_000)
    expect(images()).toEqual(['db:1', 'db:1', 'db:1'])
    await cluster.pods.delete(pod('db-1'))
    await cluster.advance(60_000)
    expect(pod('db-1').spec.containers[0]?.image).toBe('db:2')
  })

  it('keeps its revisions, reuses an earlier one, and deletes those beyond the limit', async () => {
    const revisions = () => cluster.of<ControllerRevision>('controllerrevisions.apps').list()
    const first = db().status?.currentRevision
    await changeImage('db:2')
    await cluster.advance(60_000)
    await changeImage('db:1')
    await cluster.advance(60_000)
    expect(revisions()).toHaveLength(2)
    expect(db().status?.currentRevision).toBe(first)
    await change({ revisionHistoryLimit: 1 })
    for (const image of ['db:3', 'db:4', 'db:5']) {
      await changeImage(image)
      await cluster.advance(60_000)
    }
    expect(revisions()).toHaveLength(2)
  })
})

describe('the claims of a StatefulSet', () => {
  const volumeClaimTemplates = [
    {
      metadata: { name: 'data' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  ]

  it('are created for every pod, bound, and kept when the set is deleted', async () => {
    await create({ volumeClaimTemplates })
    await cluster.advance(10_000)
    expect(
      claims()
        .list()
        .map(({ metadata }) => metadata.name),
    ).toEqual(['data-db-0', 'data-db-1', 'data-db-2'])
    expect(
      claims()
        .list()
        .every(({ status }) => status?.phase === 'Bound'),
    ).toBe(true)
    expect(pod('db-1').spec.volumes).toContainEqual({
      name: 'data',
      persistentVolumeClaim: { claimName: 'data-db-1' },
    })
    expect(cluster.pods.list().every(isReady)).toBe(true)
    await sets().delete(db())
    await cluster.advance(60_000)
    expect(cluster.pods.list()).toHaveLength(0)
    expect(claims().list()).toHaveLength(3)
  })

  it('are deleted with the set, or when it scales down, if its policy requires it', async () => {
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' }
    await create({ volumeClaimTemplates, persistentVolumeClaimRetentionPolicy })
    await cluster.advance(10_000)
    await change({ replicas: 1 })
    await cluster.advance(60_000)
    expect(
      claims()
        .list()
        .map(({ metadata }) => metadata.name),
    ).toEqual(['data-db-0'])
    await sets().delete(db())
    await cluster.advance(60_000)
    expect(claims().list()).toHaveLength(0)
  })
})
