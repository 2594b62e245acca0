import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Node } from './kinds/cluster.ts'
import { type ClusterObject, controllerOf, isTerminating } from './kinds/meta.ts'
import { isReady, type Pod, type PodTemplate } from './kinds/pods.ts'
import type { DaemonSet, Deployment, StatefulSet } from './kinds/workloads.ts'
import { daemonSet, deployment, pod, podTemplate, statefulSet } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

const HOUR = 3_600_000

type Workload = ClusterObject & {
  readonly spec: { readonly replicas?: number; readonly template: PodTemplate; readonly paused?: boolean }
}

const workloads = { web: 'deployments.apps', db: 'statefulsets.apps', agent: 'daemonsets.apps' } as const
const name = fc.constantFrom<keyof typeof workloads>('web', 'db', 'agent')

const change = fc.oneof(
  fc.record({ kind: fc.constant('scale' as const), name, replicas: fc.integer({ min: 0, max: 5 }) }),
  fc.record({ kind: fc.constant('update' as const), name, image: fc.constantFrom('a:1', 'a:2', 'a:does-not-exist') }),
  fc.record({ kind: fc.constant('pause' as const), paused: fc.boolean() }),
  fc.record({ kind: fc.constant('deletePod' as const), which: fc.nat(9) }),
  fc.record({ kind: fc.constant('failPod' as const), which: fc.nat(9) }),
  fc.record({ kind: fc.constant('orphanPod' as const), which: fc.nat(9) }),
  fc.record({ kind: fc.constant('stray' as const), name }),
  fc.record({ kind: fc.constant('cordon' as const), unschedulable: fc.boolean() }),
  fc.record({ kind: fc.constant('crash' as const) }),
)
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never
const step = fc.record({ change, thenMs: fc.constantFrom(0, 500, 1_500, 30_000) })

async function apply(cluster: TestCluster, action: Change, number: number): Promise<void> {
  const pods = cluster.pods.list().filter((candidate) => !isTerminating(candidate))
  const chosen = 'which' in action ? pods[action.which % Math.max(1, pods.length)] : undefined
  switch (action.kind) {
    case 'scale':
      if (action.name !== 'agent') await edit(cluster, action.name, { replicas: action.replicas })
      return
    case 'update':
      await edit(cluster, action.name, { template: podTemplate({ labels: { app: action.name }, image: action.image }) })
      return
    case 'pause':
      await edit(cluster, 'web', { paused: action.paused })
      return
    case 'deletePod':
      if (chosen !== undefined) await cluster.pods.delete(chosen)
      return
    case 'failPod':
      if (chosen !== undefined) await label(cluster, chosen, { annotations: { 'simulator.reeve.dev/fail': 'Evicted' } })
      return
    case 'orphanPod':
      // A finished pod of a StatefulSet would block its successor's name until it is deleted.
      if (chosen !== undefined && controllerOf(chosen)?.kind !== 'StatefulSet') {
        await label(cluster, chosen, { labels: {} })
      }
      return
    case 'stray':
      await cluster.pods.create(pod(`stray-${number}`, { labels: { app: action.name } }))
      return
    case 'cordon':
      await cluster.change<Node>('nodes', 'node-1', (node) => ({
        ...node,
        spec: { ...node.spec, unschedulable: action.unschedulable },
      }))
      return
    case 'crash':
      await cluster.restart()
      return
  }
}

function edit(cluster: TestCluster, which: keyof typeof workloads, spec: Partial<Workload['spec']>): Promise<Workload> {
  return cluster.change<Workload>(workloads[which], `default/${which}`, (object) => ({
    ...object,
    spec: { ...object.spec, ...spec },
  }))
}

function label(cluster: TestCluster, of: Pod, metadata: Partial<Pod['metadata']>): Promise<Pod> {
  return cluster.change<Pod>('pods', `default/${of.metadata.name}`, (object) => ({
    ...object,
    metadata: { ...object.metadata, ...metadata },
  }))
}

/** The healthy state, whatever happened before. */
function expectHealthy(cluster: TestCluster, replicas: { web: number; db: number }): void {
  const pods = cluster.pods.list()
  const of = (app: string) => pods.filter(({ metadata }) => metadata.labels?.app === app && metadata.ownerReferences)
  const image = ({ spec }: Pod) => spec.containers[0]?.image
  const running = (app: string) => of(app).filter((candidate) => candidate.status?.phase === 'Running')
  const counts = { web: replicas.web, db: replicas.db, agent: 3 }
  for (const [app, count] of Object.entries(counts)) {
    expect(running(app).filter(isReady), app).toHaveLength(count)
    expect(running(app), app).toHaveLength(count)
    expect(running(app).map(image), app).toEqual(Array(count).fill('a:final'))
  }
  expect(
    of('db')
      .map(({ metadata }) => metadata.name)
      .sort(),
  ).toEqual(Array.from({ length: replicas.db }, (_, ordinal) => `db-${ordinal}`))
  expect(new Set(of('agent').map(({ spec }) => spec.nodeName)).size).toBe(3)
  for (const owned of [...pods, ...cluster.replicaSets.list()]) expectOwnerAlive(cluster, owned)
  const web = cluster.of<Deployment>('deployments.apps').get('default', 'web')
  expect(web?.status).toMatchObject({ observedGeneration: web?.metadata.generation })
  expect(web?.status?.availableReplicas ?? 0).toBe(replicas.web)
  const db = cluster.of<StatefulSet>('statefulsets.apps').get('default', 'db')
  expect(db?.status?.currentRevision).toBe(db?.status?.updateRevision)
  const agent = cluster.of<DaemonSet>('daemonsets.apps').get('default', 'agent')
  expect(agent?.status).toMatchObject({ numberAvailable: 3, updatedNumberScheduled: 3 })
}

function expectOwnerAlive(cluster: TestCluster, owned: ClusterObject): void {
  const reference = controllerOf(owned)
  if (reference === undefined) return
  const resource = `${reference.kind.toLowerCase()}s.apps`
  expect(cluster.of(resource).get('default', reference.name)?.metadata.uid).toBe(reference.uid)
}

it('after any sequence of changes workloads reach the desired state, without orphans, and become idle', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.record({ web: fc.integer({ min: 0, max: 4 }), db: fc.integer({ min: 0, max: 4 }) }),
      async (steps, replicas) => {
        const cluster = await startTestCluster()
        await cluster.deployments.create(deployment('web'))
        await cluster
          .of<StatefulSet>('statefulsets.apps')
          .create(statefulSet('db', { podManagementPolicy: 'Parallel' }))
        await cluster.of<DaemonSet>('daemonsets.apps').create(daemonSet('agent'))
        for (const [number, { change: action, thenMs }] of steps.entries()) {
          await apply(cluster, action, number)
          await cluster.advance(thenMs)
        }
        await apply(cluster, { kind: 'pause', paused: false }, 0)
        await apply(cluster, { kind: 'cordon', unschedulable: false }, 0)
        const template = (app: string) => podTemplate({ labels: { app }, image: 'a:final' })
        await edit(cluster, 'web', { replicas: replicas.web, template: template('web') })
        await edit(cluster, 'db', { replicas: replicas.db, template: template('db') })
        await edit(cluster, 'agent', { template: template('agent') })
        await cluster.advance(HOUR)
        expectHealthy(cluster, replicas)
        const { writes } = cluster.api
        await cluster.advance(24 * HOUR)
        expect(cluster.api.writes).toBe(writes)
        expect(cluster.clock.pendingTimers).toBe(0)
        expect(cluster.problems).toEqual([])
        await cluster.stop()
      },
    ),
    // Each sequence takes less than a second; run more on demand.
    { numRuns: Number(process.env.REEVE_RUNS ?? 12) },
  )
}, 600_000)
