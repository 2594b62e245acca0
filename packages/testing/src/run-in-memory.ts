/** Runs an operator on a cluster in this process, in simulated time. */

import { type CallWebhook, type EmbeddedClusterOptions, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  type KubeObject,
  MutatingWebhookConfigurations,
  Namespaces,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import type { WebhookConfigurations, WebhookLocation } from '@reeve/runtime/operator'
import { recordingLogger, seededRandom } from '@reeve/runtime/testing'
import { type WebhookRoute, WebhookRouter } from '@reeve/runtime/webhooks'
import { Activity } from './activity.ts'
import { type CreatedForTest, type InMemoryOptions, Replica, remember } from './replica.ts'
import { type ReplicaOptions, World } from './world.ts'

/** What an operator must be to run here: `defineOperator` returns that. */
export interface OperatorUnderTest<Created extends CreatedForTest, Options> {
  readonly name: string
  readonly webhooks?: readonly WebhookRoute[]
  crds(location?: WebhookLocation): readonly CustomResourceDefinition[]
  webhookConfigurations?(options: { readonly location: WebhookLocation }): WebhookConfigurations
  create(options: InMemoryOptions & Options): Created
}

/** How a world begins. */
export interface RunInMemoryOptions<Options> {
  /** What exists before the operator starts. Namespaces that these objects need are created. @default nothing */
  readonly objects?: readonly KubeObject[]
  /** For `create` of the operator, such as what it depends on or its leader election. @default nothing */
  readonly options?: ReplicaOptions<Options>
  /** Of the cluster, such as its nodes. @default three nodes, everything is allowed */
  readonly cluster?: Omit<EmbeddedClusterOptions, 'clock' | 'listen' | 'callWebhook'>
  /** Of the cluster and the operator, for what else must share their time, such as a service that it calls. @default a new one */
  readonly clock?: SimulatedClock
  /** How long nothing may be written before the world counts as settled. @default 30_000 */
  readonly quietMs?: number
}

/** The address of webhooks that are called without a socket. */
const LOCATION = { url: 'https://in-memory.invalid' } as const

/**
 * Starts a cluster with the operator's CRDs and webhooks, and the operator on it. Nothing is served on a socket.
 *
 * @param operator or how it is defined, where that depends on the cluster
 *
 * *Errors*: whatever the API server rejects of `objects`, CRDs and webhook configurations.
 *
 * @example
 * await using world = await runInMemory(greeter)
 * world.fail({ verb: 'create', resource: ConfigMaps, times: 3 })
 * await world.apply(Greetings, { metadata: { name: 'hello' }, spec: { text: 'hi' } })
 * await world.settle()
 */
export async function runInMemory<Created extends CreatedForTest, Options>(
  operator:
    | OperatorUnderTest<Created, Options>
    | ((client: KubeClient) => Promise<OperatorUnderTest<Created, Options>>),
  options: RunInMemoryOptions<Options> = {},
): Promise<World<Created, Options>> {
  const { objects = [], clock = new SimulatedClock(), quietMs = 30_000 } = options
  const random = seededRandom(1)
  const logger = recordingLogger()
  let callWebhook: CallWebhook | undefined
  const cluster = await startEmbeddedCluster({
    authorization: 'AlwaysAllow',
    random,
    ...options.cluster,
    listen: false,
    clock,
    // Wherever the manifests say that the webhooks are: those of a chart name a Service.
    callWebhook: (call) => callWebhook?.(call),
  })
  try {
    const warnings: string[] = []
    const onWarning = ({ text }: { readonly text: string }) => void warnings.push(text)
    const client = createClient({ clock, random, userAgent: 'test', transport: cluster.transport, onWarning })
    const defined = typeof operator === 'function' ? await operator(client) : operator
    const routes = defined.webhooks ?? []
    callWebhook = callingWithoutSocket(routes, new WebhookRouter(routes, { clock, logger }))
    await install(defined, client)
    await createAll(objects, client)
    const reconciles: ReconcileRecord[] = []
    const activity = new Activity(cluster, clock, quietMs)
    const onReconcile = (record: ReconcileRecord) => {
      activity.reconciled(record)
      remember(reconciles, record)
    }
    const shared = { cluster, clock, random, logger, onReconcile }
    let count = 0
    const start = (own: ReplicaOptions<Options> | undefined) => {
      count += 1
      // What a world does not provide, the test does: `Options` is both together.
      const create = (given: InMemoryOptions) => defined.create({ ...own, ...given } as InMemoryOptions & Options)
      return new Replica(`${defined.name}/${count}`, create, shared)
    }
    const world = new World({ cluster, client, clock, activity, reconciles, log: logger.lines, warnings, start })
    world.start(options.options)
    // Caches are filled: what a test does next, the operator sees as an event.
    await world.pass('1s')
    return world
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

/** Wherever the manifests say that the webhooks are: those of a chart name a Service. */
function callingWithoutSocket(routes: readonly WebhookRoute[], router: WebhookRouter): CallWebhook {
  return ({ url, review, signal }) => {
    const { pathname } = new URL(url)
    const isOwn = routes.some(({ path }) => path === pathname)
    return isOwn ? router.handle(pathname, review, { signal }) : undefined
  }
}

async function install(
  operator: Pick<OperatorUnderTest<CreatedForTest, unknown>, 'crds' | 'webhookConfigurations'>,
  client: KubeClient,
): Promise<void> {
  for (const crd of operator.crds(LOCATION)) await client.create(CustomResourceDefinitions, crd)
  const { mutating, validating } = operator.webhookConfigurations?.({ location: LOCATION }) ?? {}
  if (mutating !== undefined) await client.create(MutatingWebhookConfigurations, mutating)
  if (validating !== undefined) await client.create(ValidatingWebhookConfigurations, validating)
}

async function createAll(objects: readonly KubeObject[], client: KubeClient): Promise<void> {
  const own = objects.flatMap(({ kind, metadata }) => (kind === 'Namespace' ? [metadata.name] : []))
  const used = objects.flatMap(({ metadata: { namespace } }) => (namespace === undefined ? [] : [namespace]))
  const present = new Set([...own, 'default', 'kube-system', 'kube-public', 'kube-node-lease'])
  for (const name of new Set(used)) {
    if (present.has(name)) continue
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  for (const object of objects) {
    const { apiVersion = '', kind = '' } = object
    await client.create(await client.resourceFor({ apiVersion, kind }), { ...object, apiVersion, kind })
  }
}
