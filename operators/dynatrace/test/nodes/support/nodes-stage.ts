/** A cluster with nodes, the controller of nodes, and a tenant to which it reports them. */
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
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
} from '@reeve/kube'
import { defineOperator } from '@reeve/runtime'
import type { Cache } from '@reeve/runtime/cache'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import { seededRandom } from '@reeve/runtime/testing'
import { CERTIFICATE } from '../../../exploration/dynatrace-under-test.ts'
import { NODE_CACHE } from '../../../src/controllers/nodes/node-table.ts'
import { nodesController } from '../../../src/controllers/nodes/nodes-controller.ts'
import type { NodesOptions } from '../../../src/controllers/nodes/nodes-reconcile.ts'
import { encodeSecret } from '../../../src/controllers/rendering/secret-data.ts'
import { crdManifests, DynaKubes } from '../../../src/index.ts'
import { createTenantClient } from '../../../src/tenant/client/tenant-client.ts'
import { SimulatedTenants } from '../../../src/tenant/simulator/index.ts'
import { SkippingClock } from '../../support/skipping-clock.ts'

/** The namespace of the operator. */
export const NAMESPACE = 'dynatrace'

/** The DynaKube, its tenant and the beginning of its Secret with tokens. */
export const TENANT = 'abc12345'

/** What tests play on. */
export interface NodesStage extends AsyncDisposable {
  readonly cluster: EmbeddedCluster
  readonly client: KubeClient
  readonly simulator: SimulatedTenants
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
  const clock = new SkippingClock()
  const random = seededRandom(1)
  const simulator = new SimulatedTenants({ tenants: [{ id: TENANT }], clock })
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    clock,
    random,
    controllers: false,
  })
  const client = createClient({ transport: cluster.transport, clock, random })
  await prepare(client, simulator)
  const inProcess: NodesOptions['connect'] = (options) =>
    createTenantClient({ ...options, sender: simulator.sender, random, env: {} })
  const records: ReconcileRecord[] = []
  const stops = new Set<() => Promise<void>>()
  let cache: Cache | undefined

  const until: NodesStage['until'] = (what, condition) => clock.until(what, condition)
  async function untilSeen<T extends KubeObject>(resource: Resource<T>, { metadata }: Stored<T>): Promise<void> {
    const key = { namespace: NAMESPACE, name: metadata.name }
    const isSeen = () => cache?.get(resource, key)?.metadata.resourceVersion === metadata.resourceVersion
    await until(`${metadata.name} to be seen`, () => cache === undefined || isSeen())
  }
  async function reconcile(name: string, cause: () => Promise<unknown>): Promise<ReconcileRecord> {
    // One that is in progress knows nothing of what the test did before.
    await clock.advance(1)
    const sinceMs = clock.now()
    await cause()
    const found = () => records.findLast(({ key, startedMs }) => key.name === name && startedMs >= sinceMs)
    await until(`a reconcile of ${name}`, () => found() !== undefined)
    // `until` has seen it.
    return found() as ReconcileRecord
  }
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
      const controllers = [nodesController({ namespace: NAMESPACE, connect: inProcess, ...options })] as const
      const { manager, ...own } = defineOperator<[Node]>({ name: 'nodes', controllers }).create({
        client,
        clock,
        random,
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
        await clock.runToCompletion(running)
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
      clock.skip(durationMs)
    },
    async [Symbol.asyncDispose]() {
      for (const stop of [...stops]) await stop()
      await cluster.stop()
    },
  }
}

async function prepare(client: KubeClient, simulator: SimulatedTenants): Promise<void> {
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
    data: { certs: CERTIFICATE },
  })
  await client.create(DynaKubes, {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: metadata(TENANT),
    spec: { apiUrl: simulator.url(TENANT), tokens: 'tokens', trustedCAs: 'tenant' },
  })
}
