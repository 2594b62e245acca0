/** Objects of many kinds, with a part of each that is arbitrary. */
import { jsonValue } from '@reeve/fuzz'
import fc, { type Arbitrary } from 'fast-check'

const kinds = [
  ['v1', 'ConfigMap', { data: { a: 'b' }, binaryData: { c: 'aGk=' }, immutable: true }],
  [
    'v1',
    'Secret',
    { stringData: { a: 'b' }, type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'e30=' } },
  ],
  [
    'v1',
    'Pod',
    {
      spec: {
        containers: [
          {
            name: 'a',
            image: 'nginx',
            env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
            resources: { limits: { cpu: '1' } },
            livenessProbe: { httpGet: { port: 80 } },
          },
        ],
        volumes: [{ name: 'v', configMap: { name: 'a' } }],
        affinity: { nodeAffinity: {} },
        tolerations: [],
      },
    },
  ],
  [
    'v1',
    'Service',
    {
      spec: {
        type: 'NodePort',
        ports: [{ port: 80, targetPort: 'http', nodePort: 30_080 }],
        selector: { app: 'a' },
        clusterIP: '10.96.0.9',
      },
    },
  ],
  ['v1', 'Namespace', { spec: { finalizers: ['kubernetes'] } }],
  ['v1', 'Node', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] }, status: { capacity: { cpu: '1' } } }],
  [
    'v1',
    'PersistentVolumeClaim',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  ],
  [
    'batch/v1',
    'CronJob',
    {
      spec: {
        schedule: '* * * * *',
        timeZone: 'Etc/UTC',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }] } } },
        },
      },
    },
  ],
  [
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    {
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { kind: 'Deployment', name: 'a' },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
    },
  ],
  [
    'networking.k8s.io/v1',
    'NetworkPolicy',
    { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] }] } },
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'ClusterRole',
    { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], aggregationRule: {} },
  ],
  [
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    {
      spec: {
        group: 'e.com',
        names: { plural: 'as', kind: 'A' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
  ],
  [
    'admissionregistration.k8s.io/v1',
    'ValidatingWebhookConfiguration',
    {
      webhooks: [
        {
          name: 'a.b.c',
          clientConfig: { url: 'https://a' },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          matchConditions: [{ name: 'x', expression: 'true' }],
          rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
        },
      ],
    },
  ],
  [
    'authorization.k8s.io/v1',
    'SelfSubjectAccessReview',
    { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
  ],
  ['authentication.k8s.io/v1', 'TokenReview', { spec: { token: 'a.b.c' } }],
  ['autoscaling/v1', 'Scale', { spec: { replicas: 2 } }],
  ['v1', 'DeleteOptions', { preconditions: { uid: 'x' }, propagationPolicy: 'Orphan' }],
] as const

const metadata = fc.oneof(
  fc.constantFrom<Record<string, unknown>>(
    { name: 'a' },
    { generateName: 'a-' },
    { name: 'a', labels: { a: 'b' }, annotations: { c: 'd' }, finalizers: ['e.com/f'] },
    { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'y' }] },
    {
      name: 'a',
      managedFields: [{ manager: 'm', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }],
    },
    { name: 'a', resourceVersion: '1', uid: 'x', deletionTimestamp: '2024-01-01T00:00:00Z' },
  ),
  jsonValue,
)

/** The text of an object; one member of it, or of its `spec`, may hold anything. */
export const objectsOfKinds: Arbitrary<string> = fc
  .tuple(fc.constantFrom(...kinds), metadata, fc.option(fc.tuple(fc.nat(), jsonValue), { freq: 3 }))
  .map(([[apiVersion, kind, parts], meta, spoiled]) => {
    const object = structuredClone<Record<string, unknown>>({ apiVersion, kind, metadata: meta, ...parts })
    if (spoiled !== null) spoil(object, ...spoiled)
    return JSON.stringify(object)
  })

/** Puts `value` in place of the `number`-th member that is below a member of `object`. */
function spoil(object: Record<string, unknown>, number: number, value: unknown): void {
  const members: (readonly [Record<string, unknown>, string])[] = []
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    const container = part as Record<string, unknown> // an object or a list: both have members by name
    for (const key of Object.keys(container)) {
      members.push([container, key])
      visit(container[key])
    }
  }
  visit(object)
  const [container, key] = members[number % members.length] ?? [object, 'spec']
  container[key] = value
}
