/** A cluster with nodes, the controller of nodes, and a tenant to which it reports them. */
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type Clock,
  type ConfigMap,
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  isNotFound,
  type KubeClient,
  type KubeObject,
  Namespaces,
  type Node,
  Nodes,
  type Resource,
  Secrets,
  type Stored,
  sleep,
  systemClock,
  type TransportRequest,
} from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import type { Cache } from '@reeve/runtime/cache'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import { NODE_CACHE } from '../../../src/controllers/nodes/node-table.ts'
import { nodesController } from '../../../src/controllers/nodes/nodes-controller.ts'
import type { NodesOptions } from '../../../src/controllers/nodes/nodes-reconcile.ts'
import { encodeSecret } from '../../../src/controllers/rendering/secret-data.ts'
import { crdManifests, DynaKubes } from '../../../src/index.ts'
import { startTenantSimulator, type TenantSimulator } from '../../../src/tenant/simulator/index.ts'
import { reconcileAfter } from '../../support/reconcile-after.ts'

/** The namespace of the operator. */
export const NAMESPACE = 'dynatrace'

/** The DynaKube, its tenant and the beginning of its Secret with tokens. */
export const TENANT = 'abc12345'

const PATIENCE_MS = 60_000

/** What tests play on. */
export interface NodesStage extends AsyncDisposable {
  readonly cluster: EmbeddedCluster
  readonly client: KubeClient
  readonly simulator: TenantSimulator
  readonly records: readonly ReconcileRecord[]
  readonly nowMs: () => number
  /** Starts the controller; returns the function that stops it. */
  start(options?: Partial<NodesOptions>): () => Promise<void>
  /** Adds nodes to the cluster. */
  addNodes(...names: readonly string[]): Promise<void>
  /** Says in the status of the DynaKube on which nodes agents run. */
  runAgents(addresses: Readonly<Record<string, string>>): Promise<void>
  /** Sends a heartbeat of a node, or changes it, and waits for the reconcile that follows. */
  touch(name: string, spec?: Readonly<Record<string, unknown>>): Promise<ReconcileRecord>
  remove(name: string): Promise<ReconcileRecord>
  cached(): Promise<Stored<ConfigMap> | undefined>
  /** Changes the ConfigMap behind the controller's back, and waits until it sees that. */
  tamper(patch: Readonly<Record<string, unknown>>): Promise<void>
  advance(durationMs: number): void
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>
}

/** Sets the stage: CRDs, tokens, trust and a DynaKube; nodes are added by the test. */
export async function setNodesStage(): Promise<NodesStage> {
  const simulator = await startTenantSimulator({ tenants: [{ id: TENANT }] })
  let advancedMs = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + advancedMs }
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', clock, controllers: false })
  const transport = { send: (request: TransportRequest) => cluster.handle(request), close: async () => undefined }
  const client = createClient({ transport, clock })
  await prepare(client, simulator)
  const records: ReconcileRecord[] = []
  const stops = new Set<() => Promise<void>>()
  let cache: Cache | undefined

  async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = systemClock.now() + PATIENCE_MS
    while (!(await condition())) {
      if (systemClock.now() > deadline) throw new Error(`timed out waiting for ${what}`)
      await sleep(10)
    }
  }
  async function untilSeen<T extends KubeObject>(resource: Resource<T>, { metadata }: Stored<T>): Promise<void> {
    const key = { namespace: NAMESPACE, name: metadata.name }
    const isSeen = () => cache?.get(resource, key)?.metadata.resourceVersion === metadata.resourceVersion
    await until(`${metadata.name} to be seen`, () => cache === undefined || isSeen())
  }
  const reconcile = (name: string, cause: () => Promise<unknown>) =>
    reconcileAfter({ records, clock, until }, name, ({ key }) => key.name === name, cause)
  return {
    cluster,
    client,
    simulator,
    records,
    until,
    nowMs: () => clock.now(),
    start(options = {}) {
      const stop = new AbortController()
      const onReconcile = (record: ReconcileRecord) => records.push(record)
      // The test reads the failure, and retries when it wants to.
      const backoff = { baseMs: 3_600_000, maxMs: 3_600_000 }
      const controllers = [nodesController({ namespace: NAMESPACE, ...options })] as const
      const { manager, ...own } = defineOperator<[Node]>({ name: 'nodes', controllers }).create({
        client,
        clock,
        onReconcile,
        backoff,
      })
      cache = own.cache
      const running = manager.run(stop.signal)
      // Awaited when it is stopped; until then it must not be unhandled.
      running.catch(() => undefined)
      const end = async () => {
        stops.delete(end)
        cache = undefined
        stop.abort()
        await running
      }
      stops.add(end)
      return end
    },
    async addNodes(...names) {
      for (const name of names) {
        await client.create(Nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } })
      }
    },
    async runAgents(addresses) {
      const instances = Object.fromEntries(
        Object.entries(addresses).map(([node, ipAddress]) => [node, { podName: `agent-${node}`, ipAddress }]),
      )
      const dynakube = await client.get(DynaKubes, { namespace: NAMESPACE, name: TENANT })
      const changed = { ...dynakube, status: { oneAgent: { instances } } }
      await untilSeen(DynaKubes, await client.update(DynaKubes, changed, { subresource: 'status' }))
    },
    async tamper(patch) {
      const key = { namespace: NAMESPACE, name: NODE_CACHE }
      await untilSeen(ConfigMaps, await client.patch(ConfigMaps, key, { type: 'merge', patch }))
    },
    touch: (name, spec = {}) =>
      reconcile(name, () =>
        client.patch(
          Nodes,
          { name },
          { type: 'merge', patch: { metadata: { annotations: { heartbeat: `${records.length}` } }, spec } },
        ),
      ),
    remove: (name) => reconcile(name, () => client.delete(Nodes, { name })),
    async cached() {
      try {
        return await client.get(ConfigMaps, { namespace: NAMESPACE, name: NODE_CACHE })
      } catch (error) {
        if (isNotFound(error)) return undefined
        throw error
      }
    },
    advance(durationMs) {
      advancedMs += durationMs
    },
    async [Symbol.asyncDispose]() {
      for (const stop of [...stops]) await stop()
      await cluster.stop()
      await simulator.close()
    },
  }
}

async function prepare(client: KubeClient, simulator: TenantSimulator): Promise<void> {
  const metadata = (name: string) => ({ namespace: NAMESPACE, name })
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  for (const manifest of crdManifests()) {
    // The manifest keeps its spec open; the cluster checks it.
    await client.create(CustomResourceDefinitions, manifest as unknown as CustomResourceDefinition)
  }
  const apiToken = simulator.tenant(TENANT).tokens.get('apiToken')?.value ?? ''
  const data = encodeSecret({ apiToken })
  await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: metadata('tokens'), data })
  await client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata('tenant'),
    data: { certs: simulator.caCertificate },
  })
  await client.create(DynaKubes, {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: metadata(TENANT),
    spec: { apiUrl: simulator.url(TENANT), tokens: 'tokens', trustedCAs: 'tenant' },
  })
}
