/**
 * A cluster with the whole operator running in one namespace, and a tenant for it to talk to. The embedded cluster and the
 * tenant are in this process, in simulated time; a real cluster has its own time, and a tenant behind a socket.
 */

import { openCluster } from '@reeve/cluster-under-test'
import { type Clock, sleep, systemClock } from '@reeve/http'
import {
  ConfigMaps,
  connect,
  DaemonSets,
  Deployments,
  isNotFound,
  type KubeClient,
  type KubeObject,
  Namespaces,
  Nodes,
  type Resource,
  Secrets,
  Services,
  StatefulSets,
  type Stored,
} from '@reeve/kube'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { clusterIdOf, createDynatraceOperator, type DynaKube, type DynaKubeSpec, DynaKubes } from '../../src/index.ts'
import { type Exits, networkExits } from '../../src/plan/world.ts'
import { type SimulatedTenants, startTenantSimulator } from '../../src/tenant/simulator/index.ts'
import { DEFINITION, exitsInto, NAMESPACE, prerequisites, setStage, tokensOf } from '../dynakube/support/stage.ts'
import { installCrds } from './install-crds.ts'
import { installCsiDriver } from './install-csi-driver.ts'
import { until } from './until.ts'

/** What a DynaKube or an EdgeConnect may own. */
const KINDS: readonly Resource[] = [ConfigMaps, Secrets, Services, DaemonSets, Deployments, StatefulSets]

/** The accounts of all pods; the chart has them. Without them a real cluster makes no pod. */
const ACCOUNTS = [
  'dynatrace-activegate',
  'dynatrace-dynakube-oneagent',
  'dynatrace-edgeconnect',
  'dynatrace-extension-controller',
  'dynatrace-logmonitoring',
  'dynatrace-node-config-collector',
  'dynatrace-otel-collector',
  'dynatrace-sql-ext-exec',
]

/** The ConfigMap with the authority of the tenant. */
export const TRUST = 'tenant'

/** The Secret with the OAuth client of EdgeConnects. */
export const OAUTH_CLIENT = 'oauth-client'

/** The tenant of all EdgeConnects; no DynaKube points to it. */
export const EDGE_TENANT = 'edge'

/** Marks the nodes of the stage, which no other pods run on. */
const STAGE_KEY = 'dynatrace-stage'

type HostAgents = NonNullable<NonNullable<DynaKubeSpec['oneAgent']>['hostMonitoring']>

/** What tests play on. */
export interface ControllersStage extends AsyncDisposable {
  readonly client: KubeClient
  /** The operator's namespace. */
  readonly namespace: string
  readonly simulator: SimulatedTenants
  /** How a plan reaches the tenant. */
  readonly exits: Exits
  /** Of all controllers, oldest first. */
  readonly records: readonly ReconcileRecord[]
  /** Has the pods of a DaemonSet on the nodes of this stage, and on no others. */
  readonly placement: Pick<HostAgents, 'nodeSelector' | 'tolerations'>
  /** Adds a node that only takes pods with the placement of this stage. */
  addNode(suffix: string): Promise<string>
  /** Creates a namespace with this label. */
  addTeam(team: string): Promise<string>
  /** Creates a DynaKube that points to the tenant of its name. */
  create(name: string, spec: Partial<DynaKubeSpec>): Promise<Stored<DynaKube>>
  edit(name: string, spec: Readonly<Record<string, unknown>>): Promise<void>
  read(name: string): Promise<Stored<DynaKube>>
  hasPhase(name: string, phase: string): () => Promise<boolean>
  /** Triggers a reconcile of a DynaKube; returns its writes, such as `patch Secret/x`. */
  reconcile(name: string): Promise<readonly string[]>
  /** Triggers reconciles until one has nothing to write. */
  settle(name: string): Promise<void>
  /** The objects of an owner, by kind and name, each with what identifies its version. */
  owned(uid: string): Promise<ReadonlyMap<string, string>>
  exists<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string): Promise<boolean>
  /** Moves the clock of the operator; timers are not affected. */
  advance(durationMs: number): void
  /** Lets time pass until the condition holds; fails with what it waited for. */
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>
}

/** Where a stage is set: what differs between a cluster in memory and a real one. */
interface Ground
  extends Pick<ControllersStage, 'client' | 'namespace' | 'simulator' | 'exits' | 'records' | 'advance' | 'until'> {
  readonly clock: Clock
  /** Lets the clock show another millisecond. */
  nextMillisecond(): Promise<void>
  createNamespace(): Promise<string>
  /** Stops the operator and removes everything. */
  close(): Promise<void>
}

/**
 * Sets the stage: CRDs, accounts, tokens and trust, and the operator running.
 *
 * @param tenants one for each DynaKube, which has the same name
 */
export async function setControllersStage(tenants: readonly string[]): Promise<ControllersStage> {
  const set = process.env.REEVE_TEST_CLUSTER === 'real' ? realGround : groundInMemory
  const ground = await set([...tenants, EDGE_TENANT])
  return { ...playedOn(ground), [Symbol.asyncDispose]: () => ground.close() }
}

/** On all nodes, those of the stage included, which are tainted. */
const CSI_DRIVER = ['csidriver.tolerations[0].operator=Exists']

/** A cluster of this process, which nobody else uses. */
async function groundInMemory(tenants: readonly string[]): Promise<Ground> {
  const stage = await setStage(tenants)
  const { client, simulator, records } = stage
  for (const object of ownPrerequisites(simulator, NAMESPACE)) await create(client, object)
  await installCsiDriver(client, NAMESPACE, CSI_DRIVER)
  let namespaces = 0
  return {
    client,
    namespace: NAMESPACE,
    simulator,
    exits: exitsInto(simulator),
    records,
    clock: stage.world.clock,
    advance: (durationMs) => stage.advance(durationMs),
    until: (_, condition) => stage.until(condition),
    nextMillisecond: () => stage.world.pass(1),
    async createNamespace() {
      namespaces += 1
      const metadata = { name: `test-${namespaces}` }
      await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
      return metadata.name
    },
    close: () => stage[Symbol.asyncDispose](),
  }
}

/** A real cluster of its own: the operator of another suite would release namespaces whose DynaKube it does not know. */
async function realGround(tenants: readonly string[]): Promise<Ground> {
  const cluster = await openCluster({ isExclusive: true })
  const simulator = await startTenantSimulator({ tenants: tenants.map((id) => ({ id })) })
  const client = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'test' })
  const operatorClient = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'dynatrace-operator' })
  const namespace = await cluster.createNamespace()
  await installCrds(client)
  const objects = [
    ...prerequisites(simulator, simulator.caCertificate, namespace),
    ...ownPrerequisites(simulator, namespace),
  ]
  for (const object of objects) await create(client, object)
  await installCsiDriver(client, namespace, CSI_DRIVER)
  let advancedMs = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + advancedMs }
  const records: ReconcileRecord[] = []
  const { manager } = createDynatraceOperator({
    ...DEFINITION,
    client: operatorClient,
    clock,
    namespace,
    clusterId: await clusterIdOf(client),
    onReconcile: (record) => records.push(record),
  })
  const stop = new AbortController()
  const running = manager.run(stop.signal)
  // A failure shows when the stage is closed; until then it must not be unhandled.
  running.catch(() => undefined)
  return {
    client,
    namespace,
    simulator,
    exits: networkExits({}),
    records,
    clock,
    advance(durationMs) {
      advancedMs += durationMs
    },
    until,
    async nextMillisecond() {
      const nowMs = clock.now()
      while (clock.now() === nowMs) await sleep(1)
    },
    createNamespace: () => cluster.createNamespace(),
    async close() {
      stop.abort()
      await running
      await operatorClient.close()
      await client.close()
      await cluster.close()
      await simulator.close()
    },
  }
}

function playedOn(ground: Ground): Omit<ControllersStage, keyof AsyncDisposable> {
  const { client, namespace, simulator, exits, records, clock, advance, until } = ground
  const key = (name: string) => ({ namespace, name })
  const patch = (name: string, changes: object) =>
    client.patch(DynaKubes, key(name), { type: 'merge', patch: { ...changes } })
  let touches = 0

  async function reconcile(name: string): Promise<readonly string[]> {
    touches += 1
    // One that is in progress knows nothing of what the test did before, and start times are whole milliseconds.
    await ground.nextMillisecond()
    const sinceMs = clock.now()
    await patch(name, { metadata: { annotations: { touched: `${touches}` } } })
    const found = () =>
      records.find(
        ({ controller, key: of, startedMs }) =>
          controller === 'dynakube-controller' && of.name === name && startedMs >= sinceMs,
      )
    await until(`a reconcile of ${name}`, () => found() !== undefined)
    return found()?.writes.map((write) => `${write.verb} ${write.kind}/${write.name}`) ?? []
  }

  return {
    client,
    namespace,
    simulator,
    exits,
    records,
    advance,
    until,
    reconcile,
    placement: {
      nodeSelector: { [STAGE_KEY]: namespace },
      tolerations: [{ key: STAGE_KEY, operator: 'Exists' }],
    },
    async addNode(suffix) {
      const name = `${namespace}-${suffix}`
      const labels = { [STAGE_KEY]: namespace, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' }
      const taints = [{ key: STAGE_KEY, effect: 'NoSchedule' as const }]
      await client.create(Nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: { taints } })
      return name
    },
    async addTeam(team) {
      const name = await ground.createNamespace()
      await client.patch(Namespaces, { name }, { type: 'merge', patch: { metadata: { labels: { team } } } })
      return name
    },
    create: (name, spec) =>
      client.create(DynaKubes, {
        apiVersion: 'dynatrace.com/v1beta6',
        kind: 'DynaKube',
        metadata: key(name),
        spec: { apiUrl: simulator.url(name), tokens: tokensOf(name), trustedCAs: TRUST, ...spec },
      }),
    async edit(name, spec) {
      await patch(name, { spec })
    },
    read: (name) => client.get(DynaKubes, key(name)),
    hasPhase: (name, phase) => async () => (await client.get(DynaKubes, key(name))).status?.phase === phase,
    settle: (name) => until(`nothing to write for ${name}`, async () => (await reconcile(name)).length === 0),
    async owned(uid) {
      const lists = await Promise.all(KINDS.map((kind) => client.list(kind, { namespace })))
      return new Map(
        lists
          .flatMap(({ items }) => items)
          .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid))
          // The generation of a workload does not change with its status.
          .map(({ kind, metadata }) => [
            `${kind}/${metadata.name}`,
            `${metadata.uid}:${metadata.generation ?? metadata.resourceVersion}`,
          ]),
      )
    },
    async exists(resource, where, name) {
      try {
        await client.get(resource, { namespace: where, name })
        return true
      } catch (error) {
        if (isNotFound(error)) return false
        throw error
      }
    },
  }
}

/** What only suites of this stage refer to. */
function ownPrerequisites(simulator: SimulatedTenants, namespace: string): readonly KubeObject[] {
  const [oauth] = simulator.tenant(EDGE_TENANT).oauth.list()
  const client = { 'oauth-client-id': oauth?.id ?? '', 'oauth-client-secret': oauth?.secret ?? '' }
  return [
    ...ACCOUNTS.map((name) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } })),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: OAUTH_CLIENT },
      data: encodeSecret(client),
    } as KubeObject,
  ]
}

async function create(client: KubeClient, object: KubeObject): Promise<void> {
  const { apiVersion = '', kind = '' } = object
  await client.create(await client.resourceFor({ apiVersion, kind }), object)
}
