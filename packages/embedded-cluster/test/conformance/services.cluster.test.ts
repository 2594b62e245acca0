/** Services: their addresses, ports and endpoints. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { deployment, deployments, pod, pods } from './support/objects.ts'
import { NEVER_READY } from './support/pod-behaviour.ts'
import { labelled } from './support/settling.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const core = (resource: string) => `/api/v1/namespaces/${api.namespace}/${resource}`

describe.concurrent('a Service', () => {
  const service = (name: string, spec: Json = {}) => ({
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
  })
  const slices = async (name: string): Promise<Json[]> => {
    const path = `/apis/discovery.k8s.io/v1/namespaces/${api.namespace}/endpointslices`
    return (await api.get(`${path}?labelSelector=kubernetes.io/service-name%3D${name}`)).body.items
  }

  it('has its ready pods as endpoints', async () => {
    const name = unique('svc')
    await api.create(core('services'), service(name))
    await api.create(deployments(api.namespace), deployment(name, { replicas: 2 }))
    const [slice] = await until('two endpoints are ready', async () => {
      const found = await slices(name)
      const endpoints = found[0]?.endpoints ?? []
      return endpoints.length === 2 && endpoints.every((one: Json) => one.conditions.ready) && found
    })
    expect(slice).toMatchObject({
      addressType: 'IPv4',
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
      metadata: {
        generateName: `${name}-`,
        labels: {
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
          'kubernetes.io/service-name': name,
        },
        ownerReferences: [{ kind: 'Service', name }],
      },
    })
    const ips = (await labelled(api, pods(api.namespace), name)).map(({ status }) => status.podIP).sort()
    expect(slice.endpoints.map(({ addresses }: Json) => addresses[0]).sort()).toEqual(ips)
    const { body } = await until('the Endpoints are updated', async () => {
      const response = await api.get(`${core('endpoints')}/${name}`)
      return response.body.subsets?.[0]?.addresses?.length === 2 ? response : undefined
    })
    expect(body.subsets[0].ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }])
  })

  it('lists pods that are not ready as such', async () => {
    const name = unique('svc')
    await api.create(core('services'), service(name))
    await api.create(pods(api.namespace), pod(name, { metadata: { labels: { app: name }, annotations: NEVER_READY } }))
    const [slice] = await until('the endpoint is listed', async () => {
      const found = await slices(name)
      return (found[0]?.endpoints ?? []).length === 1 && found
    })
    expect(slice.endpoints[0].conditions).toEqual({ ready: false, serving: false, terminating: false })
  })

  it('gets an address unless it is headless', async () => {
    const { spec } = await api.create(core('services'), service(unique('svc')))
    expect(spec).toMatchObject({
      type: 'ClusterIP',
      clusterIP: expect.stringMatching(/^10\.\d+\.\d+\.\d+$/),
      clusterIPs: [spec.clusterIP],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    })
    const headless = await api.create(core('services'), service(unique('svc'), { clusterIP: 'None' }))
    expect(headless.spec).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] })
    const external = await api.create(core('services'), {
      metadata: { name: unique('svc') },
      spec: { type: 'ExternalName', externalName: 'example.com' },
    })
    expect(external.spec).not.toHaveProperty('clusterIP')
  })

  it('keeps its address', async () => {
    const { metadata, spec } = await api.create(core('services'), service(unique('svc')))
    const path = `${core('services')}/${metadata.name}`
    const { body } = await api.put(path, { ...service(metadata.name), metadata: { name: metadata.name } })
    expect(body.spec.clusterIP).toBe(spec.clusterIP)
    const moved = await api.patch(path, { spec: { clusterIP: '10.0.0.250', clusterIPs: ['10.0.0.250'] } })
    expect(moved.status).toBe(422)
    expect(moved.body.details.causes[0]).toMatchObject({ field: 'spec.clusterIPs[0]', reason: 'FieldValueInvalid' })
  })

  it('of type NodePort gets a port on every node', async () => {
    const { spec } = await api.create(core('services'), service(unique('svc'), { type: 'NodePort' }))
    expect(spec.ports[0].nodePort).toBeGreaterThanOrEqual(30_000)
    expect(spec.ports[0].nodePort).toBeLessThanOrEqual(32_767)
    expect(spec.externalTrafficPolicy).toBe('Cluster')
  })
})
