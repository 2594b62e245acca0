/** The WebApp resource: what a user writes, and what the operator reports. */
import { conditions, defineCrd, listMap, type ObjectOf, oneOf, openObject, quantity } from '@reeve/crd'
import { type Static, Type } from 'typebox'

/** In the order in which an undisturbed WebApp passes through them; `Degraded` can follow any. */
export const PHASES = ['Created', 'Reconciling', 'WaitingForPods', 'Ready', 'Scaling', 'Degraded', 'Deleting'] as const

/** Highest number of replicas that is accepted: a guard against typing errors, not a limit of the operator. */
export const MAX_REPLICAS = 1000

const NAME = '^[A-Za-z_][A-Za-z0-9_.-]*$'
const HOST = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'

const port = (description: string, byDefault: number) =>
  Type.Integer({ minimum: 1, maximum: 65535, default: byDefault, description })

const environmentVariable = Type.Object({
  name: Type.String({ minLength: 1, pattern: NAME, description: 'Name of the variable.' }),
  value: Type.Optional(Type.String({ description: 'Its value. Leave it out when valueFrom is used.' })),
  valueFrom: Type.Optional(
    openObject({
      description: 'Where the value comes from, as in a container: secretKeyRef, configMapKeyRef, fieldRef.',
    }),
  ),
})

const resources = Type.Object(
  {
    requests: Type.Optional(
      Type.Record(Type.String(), quantity(), { description: 'What each replica is sure to get, such as cpu: 100m.' }),
    ),
    limits: Type.Optional(
      Type.Record(Type.String(), quantity(), {
        description: 'What each replica cannot exceed, such as memory: 256Mi.',
      }),
    ),
  },
  { description: 'CPU and memory of each replica.' },
)

const service = Type.Object(
  {
    type: oneOf(['ClusterIP', 'NodePort', 'LoadBalancer'], {
      default: 'ClusterIP',
      description: 'From where the application can be reached: inside the cluster, on every node, or from outside.',
    }),
    port: port('The port that clients connect to.', 80),
  },
  { default: {}, description: 'The Service in front of the replicas.' },
)

const ingress = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      maxLength: 253,
      pattern: HOST,
      description: 'The name under which browsers reach the application, such as shop.example.com.',
    }),
    className: Type.Optional(Type.String({ description: 'Which ingress controller serves it.' })),
    tlsSecretName: Type.Optional(Type.String({ description: 'A Secret with the certificate; switches HTTPS on.' })),
  },
  { description: 'Publishes the application under a host name. Leave it out to keep it inside the cluster.' },
)

const spec = Type.Object(
  {
    image: Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        'The container image with a tag or digest, such as nginx:1.29 or registry.example.com/shop@sha256:….',
    }),
    replicas: Type.Integer({
      minimum: 0,
      maximum: MAX_REPLICAS,
      default: 1,
      description: 'How many copies run. kubectl scale and autoscalers write here.',
    }),
    port: port('The port that the application listens on inside its container.', 8080),
    env: Type.Optional(
      listMap(environmentVariable, ['name'], { description: 'Environment variables of the container.' }),
    ),
    resources: Type.Optional(resources),
    healthCheckPath: Type.Optional(
      Type.String({
        pattern: '^/.*$',
        description: 'An HTTP path that returns 200 when the application can serve. Without it an open port is enough.',
      }),
    ),
    imagePullSecrets: Type.Optional(
      listMap(Type.Object({ name: Type.String({ minLength: 1 }) }), ['name'], {
        description: 'Secrets with the credentials of a private registry.',
      }),
    ),
    service,
    ingress: Type.Optional(ingress),
  },
  { description: 'What should run.' },
)

const status = Type.Object(
  {
    phase: oneOf(PHASES, { default: 'Created', description: 'Where the application stands, in one word.' }),
    observedGeneration: Type.Optional(
      Type.Integer({ description: 'The generation of the spec this status is about.' }),
    ),
    replicas: Type.Optional(Type.Integer({ description: 'Replicas that exist.' })),
    availableReplicas: Type.Optional(Type.Integer({ description: 'Replicas that can serve.' })),
    selector: Type.Optional(Type.String({ description: 'Selects the pods; autoscalers read it.' })),
    conditions: Type.Optional(
      conditions({ description: 'Ready, Available, Progressing and Degraded, each with reason and message.' }),
    ),
  },
  // A status default costs no write: the server shows Created until the operator has reported once.
  { default: { phase: 'Created' }, description: 'What the operator observed.' },
)

const v1 = {
  description: 'A web application: a Deployment and a Service of the same name, and an Ingress when it has a host.',
  spec,
  status,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
    { name: 'Image', type: 'string', jsonPath: '.spec.image' },
    { name: 'Host', type: 'string', jsonPath: '.spec.ingress.host', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
} as const

/** The CRD `webapps.example.com`. */
export const WebAppCrd = defineCrd({
  group: 'example.com',
  kind: 'WebApp',
  plural: 'webapps',
  shortNames: ['wa'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: { v1 },
})

/** For clients, informers and listers. */
export const WebApps = WebAppCrd.resource('v1')

export type WebApp = ObjectOf<typeof v1>
export type WebAppSpec = Static<typeof spec>
export type WebAppStatus = Static<typeof status>
export type Phase = (typeof PHASES)[number]
