/** The objects that every cluster contains from the start. */

import type { ClusterApi } from './api/cluster-api.ts'
import { type JsonObject, objectAt } from './json.ts'

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

const priorityClasses = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
]

/** The Service through which pods connect to the API server. */
const apiService: JsonObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  },
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
}

/**
 * The endpoint of that Service: an address of the simulated network, since a loopback address is not a valid endpoint.
 */
const apiAddress = '172.18.0.1'

const apiEndpoints: JsonObject = {
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
  },
  subsets: [{ addresses: [{ ip: apiAddress }], ports: [{ name: 'https', port: 6443 }] }],
}

const apiEndpointSlice: JsonObject = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'kubernetes', namespace: 'default', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
  addressType: 'IPv4',
  endpoints: [{ addresses: [apiAddress], conditions: { ready: true } }],
  ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
}

/** Creates missing objects; existing ones, from an earlier run, are not changed. */
export async function ensureSystemObjects(api: ClusterApi): Promise<void> {
  for (const name of namespaces) {
    await ensure(api, 'namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  await ensure(api, 'services', apiService)
  await ensure(api, 'endpoints', apiEndpoints)
  await ensure(api, 'endpointslices.discovery.k8s.io', apiEndpointSlice)
  for (const { name, ...rest } of priorityClasses) {
    await ensure(api, 'priorityclasses.scheduling.k8s.io', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      ...rest,
    })
  }
}

/** Checks first: a second object would be rejected because the existing one has its address. */
async function ensure(api: ClusterApi, resource: string, object: JsonObject): Promise<void> {
  const { namespace, name } = objectAt(object, 'metadata')
  const exists = api.get(resource, typeof namespace === 'string' ? namespace : undefined, String(name)) !== undefined
  if (!exists) await api.create(resource, object)
}
