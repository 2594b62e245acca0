/** A cluster in memory for the injection benchmark: what look-ups cost is up to the API server. */
import { type DynaKube, DynaKubes } from '@reeve/dynatrace'
import {
  Deployments,
  type KubeClient,
  type KubeObject,
  Namespaces,
  type Pod,
  ReplicaSets,
  type Resource,
  Secrets,
} from '@reeve/kube'

/** How large the cluster is. */
export const SIZE = { namespaces: 10_000, dynakubes: 50, deployments: 200 } as const

/** The operator's namespace. */
const OPERATOR_NAMESPACE = 'dynatrace'

/** Options of the route under test. */
export const INJECTION = {
  namespace: OPERATOR_NAMESPACE,
  settings: { image: 'registry.example.com/operator:1', operatorVersion: '1', hasCsiDriver: true, isOpenShift: false },
  isManagedByOlm: false,
  events: { record: () => undefined },
}

/** The namespace of a pod review. */
export const namespaceName = (index: number) => `team-${index}`
const dynakubeName = (index: number) => `dynakube-${index % SIZE.dynakubes}`

/** A client that responds from memory, and counts requests. */
export function memoryClient(): { readonly client: KubeClient; readonly requests: () => number } {
  const objects = new Map(worldObjects().map(([resource, object]) => [keyOf(resource, object.metadata), object]))
  const dynakubes = [...objects.values()].filter(({ kind }) => kind === 'DynaKube')
  let requests = 0
  const client = {
    async get(resource: Resource, key: { readonly namespace?: string; readonly name: string }) {
      requests += 1
      const isSecret = resource.plural === Secrets.plural
      const found = objects.get(keyOf(resource, key)) ?? (isSecret ? secret(key) : undefined)
      if (found !== undefined) return found
      throw new Error(`the benchmark requests ${resource.plural} ${key.namespace}/${key.name}, which does not exist`)
    },
    async listAll() {
      requests += 1
      return { items: dynakubes }
    },
  }
  // The webhooks read nothing else.
  return { client: client as unknown as KubeClient, requests: () => requests }
}

const keyOf = (
  { plural }: Resource,
  { namespace = '', name = '' }: { readonly namespace?: string; readonly name?: string },
) => `${plural}/${namespace}/${name}`

const secret = (key: { readonly namespace?: string; readonly name: string }): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { ...key },
})

function worldObjects(): readonly (readonly [Resource, KubeObject])[] {
  const indices = (count: number) => Array.from({ length: count }, (_, index) => index)
  return [
    ...indices(SIZE.namespaces).map((index) => [Namespaces, namespace(index)] as const),
    ...indices(SIZE.dynakubes).map((index) => [DynaKubes, dynakube(index)] as const),
    ...indices(SIZE.deployments).flatMap((index) => {
      const metadata = { namespace: namespaceName(index), uid: `uid-${index}` }
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...metadata, name: 'web' } }
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: metadata.uid, controller: true }
      const replicaSet = {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { ...metadata, name: 'web-5d4f', ownerReferences: [owner] },
      }
      return [[Deployments, deployment] as const, [ReplicaSets, replicaSet] as const]
    }),
  ]
}

/** A namespace that a DynaKube injects into. */
export function namespace(index: number): KubeObject {
  const name = namespaceName(index)
  const labels = {
    'kubernetes.io/metadata.name': name,
    team: dynakubeName(index),
    'dynakube.internal.dynatrace.com/instance': dynakubeName(index),
  }
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels, annotations: { 'metadata.dynatrace.com/stage': 'bench' } },
  }
}

/** A DynaKube that injects everything into its namespaces. */
export function dynakube(index: number): DynaKube {
  const namespaceSelector = { matchLabels: { team: dynakubeName(index) } }
  return {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace: OPERATOR_NAMESPACE, name: dynakubeName(index) },
    spec: {
      apiUrl: 'https://abc12345.live.dynatrace.com/api',
      oneAgent: { cloudNativeFullStack: { namespaceSelector } },
      metadataEnrichment: { enabled: true, namespaceSelector },
      otlpExporterConfiguration: { signals: { traces: {}, metrics: {}, logs: {} }, namespaceSelector },
    },
    status: {
      kubeSystemUUID: 'cluster-uid',
      kubernetesClusterName: 'bench',
      codeModules: { version: '1.300.0' },
      oneAgent: { connectionInfoStatus: { tenantUUID: 'abc12345' } },
      metadataEnrichment: { rules: [{ type: 'LABEL', source: 'team', target: 'dt.owner' }] },
    },
  }
}

/** A review of a pod of the Deployment in a namespace, as an API server sends it. */
export function podReview(index: number): Buffer {
  const namespaceOfPod = namespaceName(index % SIZE.deployments)
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'web-5d4f',
    uid: `uid-${index % SIZE.deployments}`,
    controller: true,
  }
  const mount = { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }
  const container = (name: string) => ({
    name,
    image: `registry.example.com/team/${name}:1.2.3`,
    env: Array.from({ length: 10 }, (_, number) => ({ name: `SETTING_${number}`, value: `value ${number}` })),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } },
    livenessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 },
    volumeMounts: [mount],
  })
  const object: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'web-5d4f-',
      namespace: namespaceOfPod,
      labels: { app: 'web' },
      ownerReferences: [owner],
    },
    spec: {
      containers: [container('web'), container('cache')],
      volumes: [{ name: 'kube-api-access', projected: { sources: [] } }],
    },
  }
  return review({ group: '', version: 'v1', kind: 'Pod' }, 'pods', namespaceOfPod, object)
}

/** A review of a new namespace. */
export function namespaceReview(index: number): Buffer {
  const name = `new-${index}`
  const metadata = { name, labels: { 'kubernetes.io/metadata.name': name, team: dynakubeName(index) } }
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata }
  return review({ group: '', version: 'v1', kind: 'Namespace' }, 'namespaces', name, object)
}

function review(kind: object, resource: string, namespaceOfObject: string, object: KubeObject): Buffer {
  const request = {
    uid: '11111111-2222-3333-4444-555555555555',
    kind,
    resource: { group: '', version: 'v1', resource },
    namespace: namespaceOfObject,
    operation: 'CREATE',
    userInfo: { username: 'system:serviceaccount:kube-system:replicaset-controller' },
    object,
    oldObject: null,
  }
  return Buffer.from(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }))
}
