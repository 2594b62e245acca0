import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isReady, type Pod, podCondition } from './kinds/pods.ts'
import { pod } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({ podReadyDelayMs: 2_000, podRunDurationMs: 5_000, podStopDelayMs: 3_000 })
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

function get(name = 'p'): Pod {
  const found = cluster.pods.get('default', name)
  if (found === undefined) throw new Error(`pod ${name} does not exist`)
  return found
}

const container = (of: Pod, index = 0) => of.status?.containerStatuses?.[index]
const init = (of: Pod, index = 0) => of.status?.initContainerStatuses?.[index]

async function annotate(annotations: Record<string, string>): Promise<void> {
  await cluster.change<Pod>('pods', 'default/p', (object) => ({
    ...object,
    metadata: { ...object.metadata, annotations },
  }))
}

const fail = (how: string, more: Record<string, string> = {}) => ({ 'simulator.reeve.dev/fail': how, ...more })

describe('a pod on its node', () => {
  it('is rejected when it names the node itself and its host port is taken', async () => {
    const ports = [{ containerPort: 80, hostPort: 8080 }]
    await cluster.pods.create(pod('first', { spec: { containers: [{ name: 'main', image: 'web:1', ports }] } }))
    await cluster.advance(5_000)
    const { nodeName } = get('first').spec
    if (nodeName === undefined) throw new Error('not scheduled')
    const late = (name: string) =>
      pod(name, { spec: { nodeName, containers: [{ name: 'main', image: 'web:1', ports }] } })
    await cluster.pods.create(late('p'))
    await cluster.advance(2_000)
    expect(get().status).toMatchObject({ phase: 'Failed', reason: 'NodePorts' })
    expect(get('first').status?.phase).toBe('Running')
    await cluster.pods.delete(get('first'))
    await cluster.advance(10_000)
    await cluster.pods.create(late('next'))
    await cluster.advance(5_000)
    expect(get('next').status?.phase).toBe('Running')
  })

  it('is created, then runs with an address, then becomes ready after the delay of its probe', async () => {
    const containers = [{ name: 'main', image: 'web:1', readinessProbe: { tcpSocket: { port: 80 } } }]
    await cluster.pods.create(pod('p', { spec: { containers } }))
    await cluster.settle()
    expect(get().status).toMatchObject({ phase: 'Pending', hostIP: expect.stringMatching(/^172\.18\./) })
    expect(container(get())?.state.waiting?.reason).toBe('ContainerCreating')
    expect(get().status?.podIP).toBeUndefined()
    await cluster.advance(1_000)
    expect(get().status).toMatchObject({ phase: 'Running', podIP: expect.stringMatching(/^10\.244\./) })
    expect(container(get())).toMatchObject({ ready: false, started: true, restartCount: 0 })
    expect(podCondition(get(), 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' })
    await cluster.advance(2_000)
    expect(isReady(get())).toBe(true)
    for (const type of ['PodScheduled', 'PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready']) {
      expect(podCondition(get(), type)?.status).toBe('True')
    }
  })

  it('is ready as soon as it runs if it has no readiness probe', async () => {
    await cluster.pods.create(pod('p'))
    await cluster.advance(1_000)
    expect(isReady(get())).toBe(true)
  })

  it('has its own address, except on the host network', async () => {
    for (const name of ['a', 'b']) await cluster.pods.create(pod(name))
    await cluster.pods.create(pod('h', { spec: { hostNetwork: true } }))
    await cluster.advance(5_000)
    expect(get('a').status?.podIP).not.toBe(get('b').status?.podIP)
    expect(get('h').status?.podIP).toBe(get('h').status?.hostIP)
  })

  it('runs its init containers one after the other, and sidecars alongside', async () => {
    const initContainers = [
      { name: 'first', image: 'i' },
      { name: 'sidecar', image: 's', restartPolicy: 'Always' },
      { name: 'second', image: 'i' },
    ]
    await cluster.pods.create(pod('p', { spec: { initContainers } }))
    await cluster.advance(1_000)
    expect(init(get(), 0)?.state.running).toBeDefined()
    expect(init(get(), 1)?.state.waiting?.reason).toBe('PodInitializing')
    expect(podCondition(get(), 'Initialized')?.status).toBe('False')
    await cluster.advance(5_000)
    expect(init(get(), 0)?.state.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' })
    expect(init(get(), 1)?.state.running).toBeDefined()
    expect(init(get(), 2)?.state.running).toBeDefined()
    expect(get().status?.phase).toBe('Pending')
    await cluster.advance(5_000)
    expect(get().status?.phase).toBe('Running')
    expect(init(get(), 1)).toMatchObject({ ready: true, started: true })
    expect(isReady(get())).toBe(true)
  })

  it('waits for its readiness gates', async () => {
    const readinessGates = [{ conditionType: 'example.com/traffic' }]
    await cluster.pods.create(pod('p', { spec: { readinessGates } }))
    await cluster.advance(5_000)
    expect(podCondition(get(), 'Ready')).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' })
    const conditions = [...(get().status?.conditions ?? []), { type: 'example.com/traffic', status: 'True' as const }]
    await cluster.pods.updateStatus(get(), { ...get().status, conditions })
    await cluster.settle()
    expect(isReady(get())).toBe(true)
    expect(podCondition(get(), 'example.com/traffic')?.status).toBe('True')
  })

  it('restarts a container whose image is changed in place', async () => {
    await cluster.pods.create(pod('p'))
    await cluster.advance(5_000)
    await cluster.change<Pod>('pods', 'default/p', (object) => ({
      ...object,
      spec: {
        ...object.spec,
        containers: object.spec.containers.map((running) => ({ ...running, image: 'web:2' })),
      },
    }))
    await cluster.settle()
    expect(container(get())).toMatchObject({ image: 'web:2', restartCount: 1, ready: true })
  })

  it('keeps its state when the simulator restarts', async () => {
    await cluster.pods.create(pod('p'))
    await cluster.advance(5_000)
    const before = get()
    await cluster.restart()
    await cluster.advance(60_000)
    expect(get()).toEqual(before)
    await cluster.pods.create(pod('q'))
    await cluster.advance(5_000)
    expect(get('q').status?.podIP).not.toBe(before.status?.podIP)
  })
})

describe('a pod that terminates', () => {
  const once = { restartPolicy: 'Never' }

  it('succeeds by default', async () => {
    await cluster.pods.create(pod('p', { spec: once }))
    await cluster.advance(1_000)
    expect(get().status?.phase).toBe('Running')
    await cluster.advance(5_000)
    expect(get().status?.phase).toBe('Succeeded')
    expect(container(get())?.state.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' })
    expect(podCondition(get(), 'Ready')).toMatchObject({ status: 'False', reason: 'PodCompleted' })
    expect(cluster.clock.pendingTimers).toBe(0)
  })

  it('fails with the configured exit code', async () => {
    await cluster.pods.create(pod('p', { spec: once, annotations: { 'simulator.reeve.dev/exit-code': '3' } }))
    await cluster.advance(10_000)
    expect(get().status?.phase).toBe('Failed')
    expect(container(get())?.state.terminated).toMatchObject({ exitCode: 3, reason: 'Error' })
  })

  it('is restarted until an exit code is zero when its policy is OnFailure', async () => {
    const annotations = { 'simulator.reeve.dev/exit-code': '1,1,0' }
    await cluster.pods.create(pod('p', { spec: { restartPolicy: 'OnFailure' }, annotations }))
    await cluster.advance(7_000)
    expect(container(get())?.state.waiting?.reason).toBe('CrashLoopBackOff')
    expect(get().status?.phase).toBe('Running')
    await cluster.advance(120_000)
    expect(get().status?.phase).toBe('Succeeded')
    expect(container(get())).toMatchObject({ restartCount: 2, lastState: { terminated: { exitCode: 1 } } })
  })

  it('runs for the configured time', async () => {
    await cluster.pods.create(pod('p', { spec: once, annotations: { 'simulator.reeve.dev/run-for': '1h' } }))
    await cluster.pods.create(pod('q', { spec: once, annotations: { 'simulator.reeve.dev/run-for': 'forever' } }))
    await cluster.advance(3_590_000)
    expect(get('p').status?.phase).toBe('Running')
    await cluster.advance(20_000)
    expect(get('p').status?.phase).toBe('Succeeded')
    expect(get('q').status?.phase).toBe('Running')
    expect(cluster.clock.pendingTimers).toBe(0)
  })

  it('stops its sidecars at the end', async () => {
    const initContainers = [{ name: 'sidecar', image: 's', restartPolicy: 'Always' }]
    await cluster.pods.create(pod('p', { spec: { ...once, initContainers } }))
    await cluster.advance(10_000)
    expect(get().status?.phase).toBe('Succeeded')
    expect(init(get())?.state.terminated).toMatchObject({ exitCode: 0 })
  })

  it('fails when an init container does', async () => {
    const initContainers = [{ name: 'setup', image: 'i' }]
    const annotations = fail('CrashLoopBackOff', { 'simulator.reeve.dev/fail-container': 'setup' })
    await cluster.pods.create(pod('p', { spec: { ...once, initContainers }, annotations }))
    await cluster.advance(10_000)
    expect(get().status?.phase).toBe('Failed')
    expect(container(get())?.state.waiting?.reason).toBe('PodInitializing')
  })
})

describe('a pod with a failure annotation', () => {
  for (const reason of ['ImagePullBackOff', 'ErrImagePull', 'InvalidImageName', 'CreateContainerConfigError']) {
    it(`waits with ${reason} and recovers when the annotation is removed`, async () => {
      await cluster.pods.create(pod('p', { annotations: fail(reason) }))
      await cluster.advance(60_000)
      expect(get().status?.phase).toBe('Pending')
      expect(container(get())?.state.waiting?.reason).toBe(reason)
      await annotate({})
      await cluster.settle()
      expect(isReady(get())).toBe(true)
    })
  }

  it('cannot pull an image whose name indicates that it does not exist', async () => {
    await cluster.pods.create(pod('p', { image: 'registry.example.com/does-not-exist:1' }))
    await cluster.advance(60_000)
    expect(container(get())?.state.waiting?.reason).toBe('ImagePullBackOff')
  })

  it('never leaves ContainerCreating', async () => {
    await cluster.pods.create(pod('p', { annotations: fail('ContainerCreating') }))
    await cluster.advance(3_600_000)
    expect(container(get())?.state.waiting?.reason).toBe('ContainerCreating')
  })

  it('runs without being ready, as long as the annotation is set', async () => {
    await cluster.pods.create(pod('p'))
    await cluster.advance(5_000)
    await annotate(fail('NotReady'))
    await cluster.settle()
    expect(get().status?.phase).toBe('Running')
    expect(isReady(get())).toBe(false)
    await annotate({})
    await cluster.settle()
    expect(isReady(get())).toBe(true)
  })

  it('crashes repeatedly with increasing delays, and then stays in that state', async () => {
    await cluster.pods.create(pod('p', { annotations: fail('CrashLoopBackOff') }))
    await cluster.advance(1_000)
    expect(container(get())).toMatchObject({
      restartCount: 0,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 1 } },
    })
    await cluster.advance(10_000)
    expect(container(get())?.restartCount).toBe(1)
    await cluster.advance(15_000)
    expect(container(get())?.restartCount).toBe(1)
    await cluster.advance(5_000)
    expect(container(get())?.restartCount).toBe(2)
    await cluster.advance(4 * 3_600_000)
    const { writes } = cluster.api
    await cluster.advance(24 * 3_600_000)
    expect(cluster.api.writes).toBe(writes)
    expect(cluster.clock.pendingTimers).toBe(0)
    await annotate({})
    await cluster.advance(1_000)
    expect(isReady(get())).toBe(true)
  })

  it('is killed for its memory usage', async () => {
    await cluster.pods.create(pod('p', { annotations: fail('OOMKilled') }))
    await cluster.advance(1_000)
    expect(container(get())?.lastState.terminated).toMatchObject({ exitCode: 137, reason: 'OOMKilled' })
  })

  it('is evicted by its node', async () => {
    await cluster.pods.create(pod('p'))
    await cluster.advance(5_000)
    await annotate(fail('Evicted'))
    await cluster.settle()
    expect(get().status).toMatchObject({ phase: 'Failed', reason: 'Evicted' })
  })
})

describe('a pod with dependencies', () => {
  const secret = (name: string, data: Record<string, string> = {}) =>
    cluster.create('secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, data })

  it('waits for the Secret in its volume', async () => {
    const volumes = [{ name: 'tls', secret: { secretName: 'tls' } }]
    await cluster.pods.create(pod('p', { spec: { volumes } }))
    await cluster.advance(60_000)
    expect(container(get())?.state.waiting?.reason).toBe('ContainerCreating')
    await secret('tls')
    await cluster.settle()
    expect(isReady(get())).toBe(true)
  })

  it('waits for the key of its environment variable', async () => {
    const env = [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'tokens', key: 'api' } } }]
    await cluster.pods.create(pod('p', { spec: { containers: [{ name: 'main', image: 'web:1', env }] } }))
    await secret('tokens', { other: 'eA==' })
    await cluster.advance(60_000)
    expect(container(get())?.state.waiting).toMatchObject({
      reason: 'CreateContainerConfigError',
      message: 'secret "tokens" has no key "api"',
    })
    await cluster.change('secrets', 'default/tokens', (object) => ({ ...object, data: { api: 'eA==' } }))
    await cluster.settle()
    expect(isReady(get())).toBe(true)
  })

  it('does not wait for optional references', async () => {
    const volumes = [{ name: 'extra', configMap: { name: 'extra', optional: true } }]
    await cluster.pods.create(pod('p', { spec: { volumes } }))
    await cluster.advance(5_000)
    expect(isReady(get())).toBe(true)
  })
})

describe('deleting a pod', () => {
  it('waits for it to stop, then removes it', async () => {
    await cluster.pods.create(pod('p'))
    await cluster.advance(5_000)
    await cluster.pods.delete(get())
    await cluster.advance(2_000)
    expect(get().metadata.deletionTimestamp).toBeDefined()
    expect(isReady(get())).toBe(true)
    await cluster.advance(1_000)
    expect(cluster.pods.get('default', 'p')).toBeUndefined()
  })

  it('waits at most for the grace period', async () => {
    await cluster.pods.create(pod('p', { annotations: { 'simulator.reeve.dev/stop-delay': '10m' } }))
    await cluster.advance(5_000)
    await cluster.pods.delete(get(), { gracePeriodSeconds: 5 })
    await cluster.advance(4_000)
    expect(get().metadata.deletionTimestamp).toBeDefined()
    await cluster.advance(1_000)
    expect(cluster.pods.get('default', 'p')).toBeUndefined()
  })

  it('reports the termination of a pod that has a finalizer', async () => {
    const draft = pod('p')
    await cluster.pods.create({ ...draft, metadata: { ...draft.metadata, finalizers: ['example.com/hold'] } })
    await cluster.advance(5_000)
    await cluster.pods.delete(get())
    await cluster.advance(10_000)
    expect(get().status?.phase).toBe('Failed')
    expect(container(get())?.state.terminated?.exitCode).toBe(137)
    const { writes } = cluster.api
    await cluster.advance(3_600_000)
    expect(cluster.api.writes).toBe(writes)
  })
})
