/** Workloads on simulated nodes behave as on real machines. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  ANNOTATIONS,
  ApiClient,
  findBinaries,
  hasGo,
  type RealCluster,
  type SimulatedNodes,
  startRealCluster,
  startSimulatedNodes,
} from '../src/index.ts'

interface Pod {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly nodeName?: string }
  readonly status: {
    readonly phase: string
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly message?: string }[]
  }
}

const isAvailable = (await findBinaries()) !== undefined || (await hasGo())
const reason = isAvailable ? '' : ' (skipped: no binaries, and no Go to build them)'

describe.skipIf(!isAvailable)(`simulated nodes${reason}`, () => {
  let cluster: RealCluster
  let nodes: SimulatedNodes
  let client: ApiClient
  const failures: unknown[] = []

  beforeAll(async () => {
    cluster = await startRealCluster()
    nodes = await startSimulatedNodes(cluster, {
      nodes: [
        { name: 'plain' },
        { name: 'tainted', taints: [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }] },
      ],
      logs: ({ pod, container }) => `first\n${pod}/${container}\n`,
      onFailure: (error) => failures.push(error),
    })
    client = new ApiClient(cluster)
  }, 1_200_000)

  afterAll(async () => {
    await client?.close()
    await nodes?.stop()
    await cluster?.stop()
    expect(failures).toEqual([])
  })

  it('become ready', async () => {
    await eventually(async () => {
      const { items } = await list<Pod>('/api/v1/nodes')
      expect(items.map(isReady)).toEqual([true, true])
    })
  })

  it('make a Deployment available', async () => {
    await create('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'web' },
      spec: { replicas: 3, ...workload('web') },
    })
    await eventually(async () => {
      const { status } = await get<{ status: { availableReplicas?: number } }>(
        '/apis/apps/v1/namespaces/default/deployments/web',
      )
      expect(status.availableReplicas).toBe(3)
    })
  })

  it('run a DaemonSet only where its pods tolerate the taints, and on nodes added later', async () => {
    const path = '/apis/apps/v1/namespaces/default/daemonsets'
    await create(path, { metadata: { name: 'agent' }, spec: workload('agent') })
    await create('/api/v1/nodes', { metadata: { name: 'late' } })
    await eventually(async () => {
      const { items } = await list<Pod>('/api/v1/namespaces/default/pods?labelSelector=app%3Dagent')
      expect(
        items
          .filter(isReady)
          .map((pod) => pod.spec.nodeName)
          .sort(),
      ).toEqual(['late', 'plain'])
    })
  })

  it('complete a Job whose pods succeed and fail one whose pods fail', async () => {
    const job = (name: string, annotations: Record<string, string>) => ({
      metadata: { name },
      spec: {
        backoffLimit: 0,
        template: { metadata: { annotations }, spec: { restartPolicy: 'Never', containers: [container] } },
      },
    })
    await create('/apis/batch/v1/namespaces/default/jobs', job('good', {}))
    await create('/apis/batch/v1/namespaces/default/jobs', job('bad', { [ANNOTATIONS.exitCode]: '1' }))
    await eventually(async () => {
      const { items } = await list<Pod>('/apis/batch/v1/namespaces/default/jobs')
      const ends = items.map((item) => [item.metadata.name, item.status.conditions?.map(({ type }) => type).sort()])
      expect(ends).toEqual([
        ['bad', ['Failed', 'FailureTarget']],
        ['good', ['Complete', 'SuccessCriteriaMet']],
      ])
    })
  })

  it('report why a pod is unschedulable, and bind it once a node fits', async () => {
    const path = '/api/v1/namespaces/default/pods'
    await create(path, {
      metadata: { name: 'picky' },
      spec: { nodeSelector: { disk: 'fast' }, containers: [container] },
    })
    await eventually(async () => {
      const pod = await get<Pod>(`${path}/picky`)
      expect(pod.status.conditions[0]?.message).toContain('nodes are available')
    })
    await create('/api/v1/nodes', { metadata: { name: 'fast', labels: { disk: 'fast' } } })
    await eventually(async () => {
      const pod = await get<Pod>(`${path}/picky`)
      expect([pod.spec.nodeName, isReady(pod)]).toEqual(['fast', true])
    })
  })

  it('keep a pod unready when its annotation requires it', async () => {
    const path = '/api/v1/namespaces/default/pods'
    const annotations = { [ANNOTATIONS.fail]: 'NotReady' }
    await create(path, { metadata: { name: 'unready', annotations }, spec: { containers: [container] } })
    await eventually(async () => {
      const pod = await get<Pod>(`${path}/unready`)
      expect([pod.status.phase, isReady(pod)]).toEqual(['Running', false])
    })
  })

  it('serve logs', async () => {
    const path = '/api/v1/namespaces/default/pods/unready/log'
    expect(await client.text({ method: 'GET', path, accept: '*/*' })).toBe('first\nunready/main\n')
    expect(await client.text({ method: 'GET', path: `${path}?tailLines=1`, accept: '*/*' })).toBe('unready/main\n')
  })

  it('remove pods that are deleted', async () => {
    await client.text({ method: 'DELETE', path: '/apis/apps/v1/namespaces/default/deployments/web' })
    await eventually(async () => {
      const { items } = await list<Pod>('/api/v1/namespaces/default/pods?labelSelector=app%3Dweb')
      expect(items).toEqual([])
    })
  })

  const container = { name: 'main', image: 'example.com/main:1' }
  const workload = (app: string) => ({
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: { containers: [container] } },
  })
  const create = (path: string, body: object) => client.text({ method: 'POST', path, body })
  const get = <T>(path: string) => client.json<T>({ method: 'GET', path })
  const list = <T>(path: string) => get<{ items: T[] }>(path)
  const isReady = (object: Pod) =>
    object.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
  const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 50 })
})
