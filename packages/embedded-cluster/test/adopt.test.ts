/** Objects that are adopted from another cluster. */
import { createClient, Services } from '@reeve/kube'
import { afterEach, expect, it } from 'vitest'
import { type EmbeddedCluster, type JsonObject, startEmbeddedCluster } from '../src/index.ts'

const clusters: EmbeddedCluster[] = []
afterEach(async () => {
  for (const cluster of clusters.splice(0)) await cluster.stop()
})

async function start(): Promise<EmbeddedCluster> {
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false })
  clusters.push(cluster)
  return cluster
}

const clientOf = (cluster: EmbeddedCluster) =>
  createClient({
    transport: cluster.transport,
  })

const service: JsonObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: '6f0e7a5c-0000-4000-8000-000000000001',
    resourceVersion: '987654321',
    creationTimestamp: '2024-01-02T03:04:05Z',
    managedFields: [
      {
        manager: 'elsewhere',
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } } },
      },
    ],
  },
  spec: {
    type: 'ClusterIP',
    clusterIP: '172.20.7.7',
    clusterIPs: ['172.20.7.7'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
  },
  status: { loadBalancer: {} },
}

it('an adopted object keeps all fields except its resourceVersion', async () => {
  const cluster = await start()
  await cluster.adopt([service])
  const found = cluster.api.get('services', 'default', 'web') as JsonObject
  const { resourceVersion, ...metadata } = found.metadata as JsonObject
  const { resourceVersion: _foreign, ...expected } = service.metadata as JsonObject
  expect({ ...found, metadata }).toEqual({ ...service, metadata: expected })
  expect(resourceVersion).not.toBe('987654321')
})

it('an adopted object accepts updates, although its address is outside the range of this cluster', async () => {
  const cluster = await start()
  await cluster.adopt([service])
  const client = clientOf(cluster)
  const patch = { type: 'merge', patch: { metadata: { labels: { colour: 'blue' } } } } as const
  const changed = await client.patch(Services, { namespace: 'default', name: 'web' }, patch)
  expect(changed.spec?.clusterIP).toBe('172.20.7.7')
  expect(changed.metadata.uid).toBe('6f0e7a5c-0000-4000-8000-000000000001')
})

it('an adopted object replaces an existing one', async () => {
  const cluster = await start()
  const uid = 'b1f7a1de-0000-4000-8000-000000000002'
  await cluster.adopt([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid } }])
  expect(cluster.api.get('namespaces', undefined, 'kube-system')).toMatchObject({ metadata: { uid } })
})

it('an adopted object of a kind that the cluster does not serve is rejected', async () => {
  const cluster = await start()
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' } }
  await expect(cluster.adopt([widget])).rejects.toMatchObject({ code: 404 })
})

it('an adopted definition is served with its rules at once, in any number of clusters', async () => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'notes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { kind: 'Note', plural: 'notes' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: {
                  type: 'object',
                  properties: { size: { type: 'integer', default: 3 } },
                  'x-kubernetes-validations': [{ rule: 'self.size < 10', message: 'too large' }],
                },
              },
            },
          },
        },
      ],
    },
  }
  const definitions = 'customresourcedefinitions.apiextensions.k8s.io'
  const first = await start()
  await first.api.create(definitions, definition)
  const stored = first.api.get(definitions, undefined, 'notes.example.com') as JsonObject
  const note = (size?: number): JsonObject => ({
    apiVersion: 'example.com/v1',
    kind: 'Note',
    metadata: { namespace: 'default', name: 'a' },
    spec: { ...(size !== undefined && { size }) },
  })
  for (const cluster of [await start(), await start()]) {
    await cluster.adopt([stored])
    await expect(cluster.api.create('notes.example.com', note(12))).rejects.toThrow('too large')
    expect(await cluster.api.create('notes.example.com', note())).toMatchObject({ spec: { size: 3 } })
  }
})
