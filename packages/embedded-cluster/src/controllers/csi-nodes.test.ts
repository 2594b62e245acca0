import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CsiDriver, CsiNode } from './csi-nodes.ts'
import type { Node } from './kinds/cluster.ts'
import { isReady, type Pod } from './kinds/pods.ts'
import type { DaemonSet } from './kinds/workloads.ts'
import { ResourceClient } from './resource-client.ts'
import { daemonSet, pod, podTemplate } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

const DRIVER = 'csi.example.com'
const hostPath = (name: string, path: string) => ({ name, hostPath: { path } })
/** What a driver mounts to register with a kubelet. */
const registration = (root = '/var/lib/kubelet') => [
  hostPath('registration-dir', `${root}/plugins_registry/`),
  hostPath('plugin-dir', `${root}/plugins/${DRIVER}/`),
  hostPath('data-dir', `${root}/plugins/${DRIVER}/data`),
]
const using = (driver = DRIVER) => ({ spec: { volumes: [{ name: 'agent', csi: { driver } }] } })

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({ nodes: 2, recordEvents: true })
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

const csiNodes = () => new ResourceClient<CsiNode>(cluster.api, 'csinodes.storage.k8s.io')
const driversByNode = () =>
  Object.fromEntries(
    csiNodes()
      .list()
      .map(({ metadata, spec }) => [metadata.name, spec.drivers?.map(({ name, nodeID }) => ({ name, nodeID })) ?? []]),
  )
const get = (name: string): Pod | undefined => cluster.pods.get('default', name)
const isRunning = (name: string) => {
  const found = get(name)
  return found !== undefined && isReady(found)
}
const failures = () =>
  cluster.api
    .list('events')
    .filter(({ reason }) => reason === 'FailedMount')
    .map(({ type, message, count }) => ({ type, message, count }))

async function declareDriver(modes?: readonly string[]): Promise<void> {
  const drivers = new ResourceClient<CsiDriver>(cluster.api, 'csidrivers.storage.k8s.io')
  // Without modes, the server adds the default.
  const spec = { ...(modes && { volumeLifecycleModes: modes }) } as CsiDriver['spec']
  await drivers.create({ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: { name: DRIVER }, spec })
}

async function installDriver(volumes = registration(), isDeclared = true): Promise<void> {
  if (isDeclared) await declareDriver(['Ephemeral'])
  const template = podTemplate({ labels: { app: 'driver' }, spec: { volumes } })
  await new ResourceClient<DaemonSet>(cluster.api, 'daemonsets.apps').create(daemonSet('driver', { template }))
  await cluster.advance(5_000)
}

describe('a CSI driver', () => {
  it('is registered on every node on which a ready pod has mounted the directories of a plugin', async () => {
    expect(driversByNode()).toEqual({})
    await installDriver()
    const [first = '', second = ''] = new ResourceClient<Node>(cluster.api, 'nodes').list().map((n) => n.metadata.name)
    expect(driversByNode()).toEqual({
      [first]: [{ name: DRIVER, nodeID: first }],
      [second]: [{ name: DRIVER, nodeID: second }],
    })
  })

  it.each([
    ['mounts no registration directory', [hostPath('plugin-dir', `/var/lib/kubelet/plugins/${DRIVER}`)]],
    ['mounts that of another kubelet', [...registration('/other').slice(0, 1), ...registration().slice(1)]],
  ])('is not registered by a pod that %s', async (_, volumes) => {
    await installDriver(volumes)
    expect(driversByNode()).toEqual({})
  })

  it('is not registered while its pod is not ready', async () => {
    const annotations = { 'simulator.reeve.dev/fail': 'NotReady' }
    await cluster.pods.create(pod('driver', { annotations, spec: { volumes: registration() } }))
    await cluster.advance(5_000)
    expect(driversByNode()).toEqual({})
    await cluster.change<Pod>('pods', 'default/driver', (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: {} },
    }))
    await cluster.advance(5_000)
    expect(Object.values(driversByNode())).toEqual([[{ name: DRIVER, nodeID: get('driver')?.spec.nodeName }]])
  })

  it('is no longer registered when its pod is deleted', async () => {
    await cluster.pods.create(pod('driver', { spec: { volumes: registration() } }))
    await cluster.advance(5_000)
    const driver = get('driver')
    if (driver === undefined) throw new Error('the driver is missing')
    await cluster.pods.delete(driver)
    await cluster.advance(60_000)
    expect(Object.values(driversByNode())).toEqual([[]])
  })

  it('is listed again after its CSINode was deleted by hand', async () => {
    await installDriver()
    const before = driversByNode()
    for (const object of csiNodes().list()) await csiNodes().delete(object)
    await cluster.settle()
    expect(driversByNode()).toEqual(before)
  })
})

describe('a pod with an inline CSI volume', () => {
  it('does not start without its driver, says so in one event, and starts once the driver is registered', async () => {
    await cluster.pods.create(pod('p', using()))
    await cluster.advance(60_000)
    expect(get('p')?.status).toMatchObject({ phase: 'Pending' })
    expect(get('p')?.status?.containerStatuses?.[0]?.state.waiting?.reason).toBe('ContainerCreating')
    const reason = `driver name ${DRIVER} not found in the list of registered CSI drivers`
    const message = `MountVolume.SetUp failed for volume "agent" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: ${reason}`
    expect(failures()).toEqual([{ type: 'Warning', message, count: 1 }])
    await installDriver()
    expect(isRunning('p')).toBe(true)
    expect(failures()).toHaveLength(1)
  })

  it('starts at once where its driver is registered', async () => {
    await installDriver()
    await cluster.pods.create(pod('p', using()))
    await cluster.advance(1_000)
    expect(isRunning('p')).toBe(true)
    expect(failures()).toEqual([])
  })

  it('does not start with a driver that no CSIDriver object declares, and starts once there is one', async () => {
    await installDriver(registration(), false)
    await cluster.pods.create(pod('p', using()))
    await cluster.advance(60_000)
    expect(isRunning('p')).toBe(false)
    const reason = `volume mode "Ephemeral" not supported by driver ${DRIVER} (no CSIDriver object)`
    expect(failures().map(({ message }) => message)).toEqual([expect.stringContaining(reason)])
    await declareDriver(['Ephemeral'])
    await cluster.advance(5_000)
    expect(isRunning('p')).toBe(true)
  })

  it('does not start with a driver for persistent volumes only, as drivers are by default', async () => {
    await installDriver(registration(), false)
    await declareDriver()
    await cluster.pods.create(pod('p', using()))
    await cluster.advance(60_000)
    expect(isRunning('p')).toBe(false)
    expect(failures().map(({ message }) => message)).toEqual([
      expect.stringContaining('(only supports ["Persistent"])'),
    ])
  })

  it('does not start with the driver of another owner', async () => {
    await installDriver()
    await cluster.pods.create(pod('p', using('other.example.com')))
    await cluster.advance(60_000)
    expect(isRunning('p')).toBe(false)
  })

  it('keeps running when its driver is removed', async () => {
    await declareDriver(['Ephemeral'])
    await cluster.pods.create(pod('driver', { spec: { volumes: registration() } }))
    await cluster.advance(5_000)
    const nodeName = get('driver')?.spec.nodeName ?? ''
    await cluster.pods.create(pod('p', { spec: { ...using().spec, nodeName } }))
    await cluster.advance(5_000)
    expect(isRunning('p')).toBe(true)
    const driver = get('driver')
    if (driver !== undefined) await cluster.pods.delete(driver)
    await cluster.advance(60_000)
    expect(isRunning('p')).toBe(true)
  })
})

it('a volume whose Secret is missing is reported', async () => {
  const volumes = [{ name: 'tls', secret: { secretName: 'certificate' } }]
  await cluster.pods.create(pod('p', { spec: { volumes } }))
  await cluster.advance(5_000)
  const message = 'MountVolume.SetUp failed for volume "tls" : secret "certificate" not found'
  expect(failures()).toEqual([{ type: 'Warning', message, count: 1 }])
})
