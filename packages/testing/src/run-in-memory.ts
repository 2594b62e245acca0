/** Runs an operator on a cluster in this process, in simulated time. */
import { type EmbeddedCluster, type EmbeddedClusterOptions, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type Clock,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  type KubeObject,
  MutatingWebhookConfigurations,
  Namespaces,
  type Transport,
  untilAborted,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import type { Logger } from '@reeve/runtime/logging'
import type { WebhookConfigurations, WebhookLocation } from '@reeve/runtime/operator'
import { recordingLogger, SimulatedClock, seededRandom } from '@reeve/runtime/testing'
import { type WebhookRoute, WebhookRouter } from '@reeve/runtime/webhooks'
import { Activity } from './activity.ts'
import { type RunningInstance, World } from './world.ts'

/** What an operator must be to run here: `defineOperator` returns that. */
export interface OperatorUnderTest<Created extends CreatedForTest> {
  readonly name: string
  readonly webhooks?: readonly WebhookRoute[]
  crds(location?: WebhookLocation): readonly CustomResourceDefinition[]
  webhookConfigurations?(options: { readonly location: WebhookLocation }): WebhookConfigurations
  create(options: InMemoryOptions): Created
}

/** What a world gives to the operator. */
export interface InMemoryOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly random: () => number
  readonly logger: Logger
  readonly onReconcile: (record: ReconcileRecord) => void
}

/** An operator before it runs. */
export interface CreatedForTest {
  readonly manager: { run(signal: AbortSignal): Promise<void> }
  readonly controllers?: readonly { readonly name: string; readonly depth: number; readonly inProgress: number }[]
}

/** How a world begins. */
export interface RunInMemoryOptions {
  /** What exists before the operator starts. Namespaces that these objects need are created. @default nothing */
  readonly objects?: readonly KubeObject[]
  /** Of the cluster, such as its nodes. @default three nodes, everything is allowed */
  readonly cluster?: Omit<EmbeddedClusterOptions, 'clock' | 'listen' | 'callWebhook'>
  /** How long nothing may be written before the world counts as settled. @default 30_000 */
  readonly quietMs?: number
}

/** The address of webhooks that are called without a socket. */
const LOCATION = { url: 'https://in-memory.invalid' } as const

/** More requests than this without any time passing are a loop that no simulated time would ever end. */
const MAX_REQUESTS_AT_ONE_INSTANT = 20_000

const MAX_RECORDS = 1_000

/**
 * Starts a cluster with the operator's CRDs and webhooks, and the operator on it. Nothing is served on a socket.
 *
 * *Errors*: whatever the API server rejects of `objects`, CRDs and webhook configurations.
 *
 * @example
 * await using world = await runInMemory(greeter)
 * world.fail({ verb: 'create', resource: ConfigMaps, times: 3 })
 * await world.apply(Greetings, { metadata: { name: 'hello' }, spec: { text: 'hi' } })
 * await world.settle()
 */
export async function runInMemory<Created extends CreatedForTest>(
  operator: OperatorUnderTest<Created>,
  options: RunInMemoryOptions = {},
): Promise<World<Created>> {
  const { objects = [], quietMs = 30_000 } = options
  const clock = new SimulatedClock()
  const random = seededRandom(1)
  const logger = recordingLogger()
  const router = new WebhookRouter(operator.webhooks ?? [], { clock, logger })
  const cluster = await startEmbeddedCluster({
    authorization: 'AlwaysAllow',
    random,
    ...options.cluster,
    listen: false,
    clock,
    callWebhook({ url, review, signal }) {
      const { origin, pathname } = new URL(url)
      return origin === LOCATION.url ? router.handle(pathname, review, { signal }) : undefined
    },
  })
  try {
    const client = createClient({ clock, random, userAgent: 'test', transport: cluster.transport })
    await install(operator, client)
    await createAll(objects, client)
    const reconciles: ReconcileRecord[] = []
    const activity = new Activity(cluster, clock, quietMs)
    const onReconcile = (record: ReconcileRecord) => {
      activity.reconciled(record)
      reconciles.push(record)
      if (reconciles.length > MAX_RECORDS) reconciles.shift()
    }
    const start = () => startInstance(operator, { cluster, clock, random, logger, onReconcile })
    const world = new World({ cluster, client, clock, activity, reconciles, log: logger.lines, start })
    // Caches are filled: what a test does next, the operator sees as an event.
    await world.pass('1s')
    return world
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

async function install(operator: OperatorUnderTest<CreatedForTest>, client: KubeClient): Promise<void> {
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

function startInstance<Created extends CreatedForTest>(
  operator: OperatorUnderTest<Created>,
  parts: Omit<InMemoryOptions, 'client'> & { readonly cluster: EmbeddedCluster },
): RunningInstance<Created> {
  const { cluster, ...environment } = parts
  const { clock, random } = environment
  const stopping = new AbortController()
  const cut = new AbortController()
  let excess: string | undefined
  let atMs = clock.now()
  let requests = 0
  const transport: Transport = {
    send(request) {
      requests = clock.now() === atMs ? requests + 1 : 1
      atMs = clock.now()
      if (requests > MAX_REQUESTS_AT_ONE_INSTANT) {
        excess ??= `${MAX_REQUESTS_AT_ONE_INSTANT} requests while no time passed, the last: ${request.method} ${request.path}`
      }
      // Without a response the loop ends, and the test can say what happened.
      if (excess !== undefined || cut.signal.aborted) return untilAborted(new Promise(() => undefined), request.signal)
      return cluster.transport.send(request)
    },
    close: async () => undefined,
  }
  const client = createClient({ clock, random, userAgent: operator.name, transport })
  const created = operator.create({ ...environment, client })
  let failure: unknown
  const ended = created.manager.run(stopping.signal)
  ended.catch((error: unknown) => {
    failure = error ?? new Error('the operator ended')
  })
  return {
    created,
    controllers: created.controllers ?? [],
    ended,
    failure: () => failure,
    excess: () => excess,
    stop: () => stopping.abort(),
    cut: () => cut.abort(),
  }
}
