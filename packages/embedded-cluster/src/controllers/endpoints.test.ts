import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EndpointSlice, Endpoints, Service } from './kinds/cluster.ts'
import type { Draft } from './kinds/meta.ts'
import { isReady, type Pod } from './kinds/pods.ts'
import { deployment, pod, podTemplate } from './testing/builders.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster()
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

async function createService(spec: Partial<Service['spec']> = {}): Promise<void> {
  const draft: Draft<Service> = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', labels: { team: 'a' } },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }], ...spec },
  }
  await cluster.of<Service>('services').create(draft)
  await cluster.settle()
}

const endpoints = () => cluster.of<Endpoints>('endpoints').get('default', 'web')
const slices = () =>
  cluster
    .of<EndpointSlice>('endpointslices.discovery.k8s.io')
    .list('default')
    // The endpoints of the API server are not managed by the controller.
    .filter(({ metadata }) => metadata.name !== 'kubernetes')
const ips = (condition: (of: Pod) => boolean = isReady) =>
  cluster.pods
    .list()
    .filter(condition)
    .map(({ status }) => status?.podIP)
    .sort()
const addresses = () =>
  (endpoints()?.subsets ?? []).flatMap((subset) => subset.addresses?.map(({ ip }) => ip) ?? []).sort()
const notReady = () => (endpoints()?.subsets ?? []).flatMap((subset) => subset.notReadyAddresses ?? [])

describe('the endpoints of a Service', () => {
  it('are its ready pods, in Endpoints and in slices', async () => {
    await createService()
    expect(slices().map(({ addressType, endpoints: listed }) => [addressType, listed ?? []])).toEqual([['IPv4', []]])
    await cluster.deployments.create(deployment('web'))
    await cluster.advance(5_000)
    expect(addresses()).toEqual(ips())
    expect(endpoints()).toMatchObject({
      metadata: { labels: { team: 'a' } },
      subsets: [{ ports: [{ name: 'http', port: 8080, protocol: 'TCP' }] }],
    })
    const [slice, ...others] = slices()
    expect(others).toEqual([])
    expect(slice).toMatchObject({
      metadata: {
        labels: {
          team: 'a',
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [{ kind: 'Service', name: 'web' }],
      },
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    })
    expect(slice?.endpoints).toHaveLength(3)
    expect(slice?.endpoints?.[0]).toMatchObject({
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: expect.stringMatching(/^node-/),
      zone: expect.stringMatching(/^local-/),
      targetRef: { kind: 'Pod', namespace: 'default' },
    })
  })

  it('list pods that are not ready separately', async () => {
    await createService()
    await cluster.pods.create(pod('broken', { annotations: { 'simulator.reeve.dev/fail': 'NotReady' } }))
    await cluster.advance(5_000)
    expect(addresses()).toEqual([])
    expect(notReady()).toHaveLength(1)
    expect(slices()[0]?.endpoints?.[0]?.conditions).toEqual({ ready: false, serving: false, terminating: false })
  })

  it('include pods that are not ready if the Service publishes them', async () => {
    await createService({ publishNotReadyAddresses: true })
    await cluster.pods.create(pod('broken', { annotations: { 'simulator.reeve.dev/fail': 'NotReady' } }))
    await cluster.advance(5_000)
    expect(addresses()).toHaveLength(1)
    expect(slices()[0]?.endpoints?.[0]?.conditions.ready).toBe(true)
  })

  it('lose a pod as soon as its deletion is requested, while slices report it as serving', async () => {
    await createService()
    await cluster.pods.create(pod('p', { annotations: { 'simulator.reeve.dev/stop-delay': '10s' } }))
    await cluster.advance(5_000)
    const [first] = cluster.pods.list()
    if (first === undefined) throw new Error('no pod')
    await cluster.pods.delete(first)
    await cluster.settle()
    expect(addresses()).toEqual([])
    expect(slices()[0]?.endpoints?.[0]?.conditions).toEqual({ ready: false, serving: true, terminating: true })
    await cluster.advance(20_000)
    expect(slices()[0]?.endpoints ?? []).toEqual([])
  })

  it('resolve named ports in each pod, and separate pods with different numbers', async () => {
    await createService({ ports: [{ port: 80, targetPort: 'http' }] })
    for (const [name, containerPort] of [
      ['a', 8080],
      ['b', 9090],
      ['none', 0],
    ] as const) {
      const ports = containerPort === 0 ? [] : [{ name: 'http', containerPort }]
      await cluster.pods.create(pod(name, { spec: { containers: [{ name: 'main', image: 'web:1', ports }] } }))
    }
    await cluster.advance(5_000)
    const numbers = slices().map(({ ports }) => ports?.[0]?.port)
    expect(numbers.sort()).toEqual([8080, 9090, undefined])
    expect(endpoints()?.subsets).toHaveLength(3)
  })

  it('follow the labels of pods and the selector of the Service', async () => {
    await createService()
    await cluster.pods.create(pod('p', { labels: { app: 'other' } }))
    await cluster.advance(5_000)
    expect(addresses()).toEqual([])
    await cluster.change<Service>('services', 'default/web', (service) => ({
      ...service,
      spec: { ...service.spec, selector: { app: 'other' } },
    }))
    await cluster.settle()
    expect(addresses()).toEqual(ips())
    await cluster.change<Pod>('pods', 'default/p', (object) => ({
      ...object,
      metadata: { ...object.metadata, labels: {} },
    }))
    await cluster.settle()
    expect(addresses()).toEqual([])
  })

  it('contain the host names of pods of a headless Service', async () => {
    await createService({ clusterIP: 'None' })
    await cluster.pods.create(pod('p', { spec: { hostname: 'web-0', subdomain: 'web' } }))
    await cluster.advance(5_000)
    expect(endpoints()?.subsets?.[0]?.addresses?.[0]?.hostname).toBe('web-0')
    expect(slices()[0]).toMatchObject({
      metadata: { labels: { 'service.kubernetes.io/headless': '' } },
      endpoints: [{ hostname: 'web-0' }],
    })
  })

  it('are split into slices of a hundred', async () => {
    await createService()
    await cluster.deployments.create(deployment('web', { replicas: 250 }))
    await cluster.advance(5_000)
    expect(
      slices()
        .map((slice) => slice.endpoints?.length)
        .sort(),
    ).toEqual([100, 100, 50])
  })

  it('are restored when they are changed or deleted', async () => {
    await createService()
    await cluster.deployments.create(deployment('web', { template: podTemplate({ labels: { app: 'web' } }) }))
    await cluster.advance(5_000)
    await cluster.change<Endpoints>('endpoints', 'default/web', (object) => ({ ...object, subsets: [] }))
    const [slice] = slices()
    if (slice === undefined) throw new Error('no slice')
    await cluster.of<EndpointSlice>('endpointslices.discovery.k8s.io').delete(slice)
    await cluster.settle()
    expect(addresses()).toEqual(ips())
    expect(slices()[0]?.endpoints).toHaveLength(3)
  })

  it('are deleted with the Service', async () => {
    await createService()
    await cluster.pods.create(pod('p'))
    await cluster.advance(5_000)
    await cluster.delete('services', 'default', 'web')
    await cluster.settle()
    expect(endpoints()).toBeUndefined()
    expect(slices()).toEqual([])
  })

  it('of a Service without a selector are not managed', async () => {
    const draft: Draft<Endpoints> = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'web', namespace: 'default' },
      subsets: [{ addresses: [{ ip: '192.0.2.1' }] }],
    }
    await cluster.of<Endpoints>('endpoints').create(draft)
    await createService({ selector: {} })
    await cluster.advance(5_000)
    expect(addresses()).toEqual(['192.0.2.1'])
    expect(slices()).toEqual([])
  })
})

describe('a Service of type LoadBalancer', () => {
  const ingress = () => cluster.of<Service>('services').get('default', 'web')?.status?.loadBalancer?.ingress

  it('gets an address, and loses it when its type changes', async () => {
    await createService({ type: 'LoadBalancer' })
    expect(ingress()).toMatchObject([{ ip: '172.19.0.1' }])
    await cluster.change<Service>('services', 'default/web', (service) => ({
      ...service,
      spec: { ...service.spec, type: 'ClusterIP' },
    }))
    await cluster.settle()
    expect(ingress()).toBeUndefined()
  })

  it('of another class is ignored', async () => {
    await createService({ type: 'LoadBalancer', loadBalancerClass: 'example.com/mine' })
    expect(ingress()).toBeUndefined()
  })
})
