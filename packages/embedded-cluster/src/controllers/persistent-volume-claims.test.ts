import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from './kinds/cluster.ts'
import type { Draft } from './kinds/meta.ts'
import { isReady, podCondition } from './kinds/pods.ts'
import { pod } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster()
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

const claims = () => cluster.of<PersistentVolumeClaim>('persistentvolumeclaims')
const volumes = () => cluster.of<PersistentVolume>('persistentvolumes')

async function createClaim(
  spec: Partial<PersistentVolumeClaim['spec']> = {},
  finalizers: string[] = [],
): Promise<void> {
  const draft: Draft<PersistentVolumeClaim> = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'default', finalizers },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
  }
  await claims().create(draft)
  await cluster.settle()
}

async function createVolume(name: string, spec: Partial<PersistentVolume['spec']> = {}): Promise<void> {
  const draft: Draft<PersistentVolume> = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      capacity: { storage: '10Gi' },
      accessModes: ['ReadWriteOnce'],
      storageClassName: '',
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: '/data' },
      ...spec,
    },
  }
  await volumes().create(draft)
  await cluster.settle()
}

function claim(): PersistentVolumeClaim {
  const found = claims().get('default', 'data')
  if (found === undefined) throw new Error('the claim does not exist')
  return found
}

async function createClass(name: string, more: Partial<StorageClass> = {}): Promise<void> {
  const draft = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner: 'x/y',
    ...more,
  }
  await cluster.of<StorageClass>('storageclasses.storage.k8s.io').create(draft)
  await cluster.settle()
}

const using = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }

describe('a claim', () => {
  it('gets a volume of the default class', async () => {
    await createClaim()
    expect(claim()).toMatchObject({
      metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      spec: { storageClassName: 'standard', volumeName: `pvc-${claim().metadata.uid}` },
      status: { phase: 'Bound', capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'] },
    })
    expect(volumes().list()).toMatchObject([
      { spec: { claimRef: { name: 'data', uid: claim().metadata.uid } }, status: { phase: 'Bound' } },
    ])
  })

  it('without a class binds to the smallest existing volume that is large enough', async () => {
    await createVolume('too-small', { capacity: { storage: '1Gi' } })
    await createVolume('large', { capacity: { storage: '100Gi' } })
    await createVolume('fitting', { capacity: { storage: '6Gi' } })
    await createVolume('read-only', { capacity: { storage: '5Gi' }, accessModes: ['ReadOnlyMany'] })
    await createClaim({ storageClassName: '' })
    expect(claim().spec.volumeName).toBe('fitting')
    expect(claim().status?.capacity).toEqual({ storage: '6Gi' })
  })

  it('waits for a matching volume, and for its class', async () => {
    await createClaim({ storageClassName: 'fast' })
    expect(claim().status?.phase).toBe('Pending')
    await createClass('fast')
    expect(claim().status?.phase).toBe('Bound')
  })

  it('binds to the volume it names', async () => {
    await createVolume('chosen')
    await createVolume('other', { capacity: { storage: '5Gi' } })
    await createClaim({ storageClassName: '', volumeName: 'chosen' })
    expect(claim().spec.volumeName).toBe('chosen')
    expect(claim().status?.phase).toBe('Bound')
  })

  it('does not bind to a volume that is reserved for another claim', async () => {
    await createVolume('promised', { claimRef: { namespace: 'default', name: 'somebody-else' } })
    await createClaim({ storageClassName: '' })
    expect(claim().status?.phase).toBe('Pending')
  })

  it('waits for its first consumer if the class requires it', async () => {
    await createClass('late', { volumeBindingMode: 'WaitForFirstConsumer' })
    await createClaim({ storageClassName: 'late' })
    await cluster.advance(60_000)
    expect(claim().status?.phase).toBe('Pending')
    await cluster.pods.create(pod('p', { spec: using }))
    await cluster.advance(5_000)
    expect(claim().status?.phase).toBe('Bound')
    expect(cluster.pods.list().map(isReady)).toEqual([true])
  })

  it('is expanded when more storage is requested', async () => {
    await createClaim()
    await cluster.change<PersistentVolumeClaim>('persistentvolumeclaims', 'default/data', (object) => ({
      ...object,
      spec: { ...object.spec, resources: { requests: { storage: '8Gi' } } },
    }))
    await cluster.settle()
    expect(claim().status?.capacity).toEqual({ storage: '8Gi' })
    expect(volumes().list()[0]?.spec.capacity).toEqual({ storage: '8Gi' })
  })
})

describe('a pod that uses a claim', () => {
  it('waits until it exists and is bound', async () => {
    await cluster.pods.create(pod('p', { spec: using }))
    await cluster.advance(5_000)
    expect(podCondition(cluster.pods.list()[0] as never, 'PodScheduled')).toMatchObject({
      status: 'False',
      message: 'persistentvolumeclaim data does not exist',
    })
    await createClaim()
    await cluster.advance(5_000)
    expect(cluster.pods.list().map(isReady)).toEqual([true])
  })

  it('protects the claim from deletion', async () => {
    await createClaim({}, ['kubernetes.io/pvc-protection'])
    await cluster.pods.create(pod('p', { spec: using }))
    await cluster.advance(5_000)
    await claims().delete(claim())
    await cluster.advance(5_000)
    expect(claim().metadata.deletionTimestamp).toBeDefined()
    await cluster.delete('pods', 'default', 'p')
    await cluster.advance(60_000)
    expect(claims().list()).toEqual([])
    expect(volumes().list()).toEqual([])
  })
})

describe('the volume of a deleted claim', () => {
  it('is deleted too if it was provisioned for the claim', async () => {
    await createClaim()
    await claims().delete(claim())
    await cluster.settle()
    expect(volumes().list()).toEqual([])
  })

  it('is released and not bound to another claim if its policy is Retain', async () => {
    await createVolume('kept')
    await createClaim({ storageClassName: '' })
    await claims().delete(claim())
    await cluster.settle()
    expect(volumes().get('', 'kept')?.status?.phase).toBe('Released')
    await createClaim({ storageClassName: '' })
    expect(claim().status?.phase).toBe('Pending')
  })
})
