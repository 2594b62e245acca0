/** Inline CSI volumes: a pod starts on a node only if its driver is registered there. Passes on both clusters. */
import { randomBytes } from 'node:crypto'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string }
  readonly spec: { readonly nodeName?: string }
  readonly status?: {
    readonly phase?: string
    readonly containerStatuses?: readonly { readonly ready: boolean; readonly state: object }[]
  }
}
interface Event {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly involvedObject: { readonly uid: string }
}
interface CsiNode {
  readonly metadata: { readonly name: string; readonly ownerReferences?: readonly object[] }
  readonly spec: { readonly drivers: readonly { readonly name: string; readonly nodeID: string }[] | null }
}

/** No other suite of a shared cluster installs it. */
const DRIVER = `csi-${randomBytes(4).toString('hex')}.example.com`
const IN_TIME = { timeout: 20_000, interval: 100 }

let cluster: ClusterUnderTest
let namespace: string
beforeAll(async () => {
  cluster = await openCluster()
  namespace = await cluster.createNamespace()
})
afterAll(async () => {
  await cluster.raw.send({ method: 'DELETE', path: `/apis/storage.k8s.io/v1/csidrivers/${DRIVER}` })
  await cluster.close()
})

async function send<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
  const { status, text } = await cluster.raw.send({ method, path, ...(body && { body }) })
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
  // The path says what it is.
  return JSON.parse(text) as T
}
const podPath = (name = '') => `/api/v1/namespaces/${namespace}/pods/${name}`.replace(/\/$/, '')
const getPod = (name: string) => send<Pod>('GET', podPath(name))

async function createPod(name: string, volumes: readonly object[], nodeName?: string): Promise<Pod> {
  const spec = { containers: [{ name: 'main', image: 'app:1' }], volumes, ...(nodeName && { nodeName }) }
  return send('POST', podPath(), { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec })
}

async function failedMounts({ metadata }: Pod): Promise<readonly Event[]> {
  const { items } = await send<{ items: readonly Event[] }>('GET', `/api/v1/namespaces/${namespace}/events`)
  return items.filter(({ reason, involvedObject }) => reason === 'FailedMount' && involvedObject.uid === metadata.uid)
}

const AGENT = { name: 'agent', csi: { driver: DRIVER, volumeAttributes: { mode: 'app' } } }
const KUBELET = '/var/lib/kubelet'
const REGISTRATION = [
  { name: 'registration-dir', hostPath: { path: `${KUBELET}/plugins_registry/`, type: 'Directory' } },
  { name: 'plugin-dir', hostPath: { path: `${KUBELET}/plugins/${DRIVER}/`, type: 'DirectoryOrCreate' } },
]

it('the kubelet starts a pod with an inline volume once its driver is registered on the node and declared, and reports both', async () => {
  const created = await createPod('app', [AGENT])
  await vi.waitFor(async () => expect(await failedMounts(created)).toHaveLength(1), IN_TIME)
  const [failure] = await failedMounts(created)
  expect(failure?.type).toBe('Warning')
  expect(failure?.message).toContain('volume "agent"')
  expect(failure?.message).toContain(`driver name ${DRIVER} not found in the list of registered CSI drivers`)
  const waiting = await getPod('app')
  expect(waiting.status).toMatchObject({
    phase: 'Pending',
    containerStatuses: [{ ready: false, state: { waiting: { reason: 'ContainerCreating' } } }],
  })

  const nodeName = waiting.spec.nodeName ?? ''
  await createPod('driver', REGISTRATION, nodeName)
  // A driver that is registered and not declared has no inline volumes.
  await vi.waitFor(async () => expect(await failedMounts(created)).toHaveLength(2), IN_TIME)
  const reason = `volume mode "Ephemeral" not supported by driver ${DRIVER} (no CSIDriver object)`
  const messages = (await failedMounts(created)).map(({ message }) => message)
  expect(messages).toContainEqual(expect.stringContaining(reason))
  expect((await getPod('app')).status?.phase).toBe('Pending')

  await send('POST', '/apis/storage.k8s.io/v1/csidrivers', {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: DRIVER },
    spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] },
  })
  await vi.waitFor(async () => {
    expect((await getPod('app')).status).toMatchObject({ phase: 'Running', containerStatuses: [{ ready: true }] })
  }, IN_TIME)
  const { metadata, spec } = await send<CsiNode>('GET', `/apis/storage.k8s.io/v1/csinodes/${nodeName}`)
  expect(spec.drivers).toContainEqual(expect.objectContaining({ name: DRIVER, nodeID: nodeName }))
  expect(metadata.ownerReferences).toMatchObject([{ apiVersion: 'v1', kind: 'Node', name: nodeName }])
  expect(await failedMounts(created)).toHaveLength(2)
})

it('the kubelet unregisters a driver with its pod: pods that run stay, and new ones wait', async () => {
  const { spec } = await getPod('driver')
  await send('DELETE', podPath('driver'), { gracePeriodSeconds: 0 })
  await vi.waitFor(async () => {
    const csiNode = await send<CsiNode>('GET', `/apis/storage.k8s.io/v1/csinodes/${spec.nodeName}`)
    expect(csiNode.spec.drivers?.map(({ name }) => name) ?? []).not.toContain(DRIVER)
  }, IN_TIME)
  const late = await createPod('late', [AGENT], spec.nodeName)
  await vi.waitFor(async () => expect(await failedMounts(late)).toHaveLength(1), IN_TIME)
  expect((await getPod('late')).status?.phase).toBe('Pending')
  expect((await getPod('app')).status?.phase).toBe('Running')
})
