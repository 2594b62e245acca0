import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'
import type { ClusterObject } from './kinds/meta.ts'
import { deployment, pod } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({ recordEvents: true })
})
afterEach(async () => {
  await cluster.stop()
})

const events = () => cluster.api.list('events', { namespace: 'default' })
const reasonsFor = (kind: string) =>
  events()
    .filter((event) => (event.involvedObject as JsonObject).kind === kind)
    .map(({ reason }) => reason)
    .sort()

describe('the events of the simulator', () => {
  it('show the history of a Deployment', async () => {
    await cluster.deployments.create(deployment('web', { replicas: 1 }))
    await cluster.advance(5_000)
    expect(reasonsFor('Deployment')).toEqual(['ScalingReplicaSet'])
    expect(reasonsFor('ReplicaSet')).toEqual(['SuccessfulCreate'])
    expect(reasonsFor('Pod')).toEqual(['Scheduled', 'Started'])
  })

  it('warn about failures', async () => {
    await cluster.pods.create(pod('homeless', { spec: { nodeSelector: { disk: 'none' } } }))
    await cluster.pods.create(pod('broken', { image: 'x:does-not-exist' }))
    await cluster.pods.create(pod('crashing', { annotations: { 'simulator.reeve.dev/fail': 'CrashLoopBackOff' } }))
    await cluster.advance(5_000)
    const warnings = events().filter(({ type }) => type === 'Warning')
    expect(warnings.map(({ reason }) => reason).sort()).toEqual(['BackOff', 'Failed', 'FailedScheduling'])
  })

  it('count repetitions instead of repeating events', async () => {
    const draft = deployment('web', { replicas: 1 })
    await cluster.deployments.create(draft)
    await cluster.advance(5_000)
    for (let round = 0; round < 3; round++) {
      for (const replicas of [0, 1]) {
        await cluster.change<ClusterObject>('deployments.apps', 'default/web', (object) => ({
          ...object,
          spec: { ...draft.spec, replicas },
        }))
        await cluster.advance(5_000)
      }
    }
    const scaling = events().filter(({ reason }) => reason === 'ScalingReplicaSet')
    expect(scaling.map(({ count }) => count).sort()).toEqual([3, 4])
  })

  it('never block the work that they report', async () => {
    cluster.api.rejectWrite = (verb, resource) => {
      if (verb === 'create' && resource === 'events') throw new StatusError(500, 'InternalError', 'no events today')
    }
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(5_000)
    expect(cluster.deployments.get('default', 'web')?.status).toMatchObject({ availableReplicas: 3 })
    expect(new Set(cluster.problems.map(({ controller }) => controller))).toEqual(new Set(['events']))
  })

  it('expire after an hour, and there is no timer without events', async () => {
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(59 * 60_000)
    expect(events().length).toBeGreaterThan(0)
    // Events that expire within the same minute are deleted together.
    await cluster.advance(3 * 60_000)
    expect(events()).toEqual([])
    expect(cluster.clock.pendingTimers).toBe(0)
  })
})

it('nodes renew their leases only when configured', async () => {
  const leases = (of: TestCluster) => of.api.list('leases.coordination.k8s.io', { namespace: 'kube-node-lease' })
  expect(leases(cluster)).toEqual([])
  const withHeartbeats = await startTestCluster({ nodes: 2, heartbeatIntervalMs: 10_000 })
  await withHeartbeats.advance(25_000)
  expect(leases(withHeartbeats)).toMatchObject([
    { metadata: { name: 'node-1' }, spec: { holderIdentity: 'node-1', renewTime: '2030-01-01T00:00:20.000000Z' } },
    { metadata: { name: 'node-2' } },
  ])
  await withHeartbeats.stop()
  expect(withHeartbeats.clock.pendingTimers).toBe(0)
})
