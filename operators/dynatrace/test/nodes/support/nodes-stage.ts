/** The controller of nodes in memory, and a tenant to which it reports them. */

import { SimulatedClock } from '@reeve/http/testing'
import { type ConfigMap, ConfigMaps, type KubeObject, type Node, Nodes, type Resource, type Stored } from '@reeve/kube'
import { type CreatedOperator, defineOperator, type OperatorOptions } from '@reeve/runtime'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import { seededRandom } from '@reeve/runtime/testing'
import { type Replica, runInMemory, type World } from '@reeve/testing'
import { CERTIFICATE } from '../../../exploration/dynatrace-under-test.ts'
import { NODE_CACHE } from '../../../src/controllers/nodes/node-table.ts'
import { nodesController } from '../../../src/controllers/nodes/nodes-controller.ts'
import { crdManifests, DynaKubes } from '../../../src/index.ts'
import { SimulatedTenants } from '../../../src/tenant/simulator/index.ts'
import { NAMESPACE, prerequisites, tokensOf, withoutSockets } from '../../dynakube/support/stage.ts'

/** The DynaKube and its tenant. */
export const TENANT = 'abc12345'

/** Runs the controller on a cluster with a DynaKube; nodes are added by the test. */
export async function setNodesStage(options: { readonly podName?: string } = {}): Promise<NodesStage> {
  const clock = new SimulatedClock()
  const simulator = new SimulatedTenants({ tenants: [{ id: TENANT }], clock })
  const { connect } = withoutSockets(simulator, seededRandom(1))
  const operator = defineOperator<[Node]>({
    name: 'nodes',
    controllers: [nodesController({ namespace: NAMESPACE, connect, ...options })],
    crds: crdManifests(NAMESPACE),
  })
  const dynakube = {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace: NAMESPACE, name: TENANT },
    spec: { apiUrl: simulator.url(TENANT), tokens: tokensOf(TENANT), trustedCAs: 'tenant' },
  }
  const world = await runInMemory(operator, {
    clock,
    // Nodes have no heartbeats but those of the test.
    cluster: { controllers: false },
    objects: [...prerequisites(simulator, CERTIFICATE), dynakube],
    // The test reads the failure, and retries when it wants to.
    options: { backoff: { baseMs: 3_600_000, maxMs: 3_600_000 } },
  })
  return new NodesStage(world, simulator)
}

/** What tests play on. */
export class NodesStage implements AsyncDisposable {
  readonly world: World<CreatedOperator<[Node]>, OperatorOptions>
  readonly simulator: SimulatedTenants

  constructor(world: NodesStage['world'], simulator: SimulatedTenants) {
    this.world = world
    this.simulator = simulator
  }

  get records(): readonly ReconcileRecord[] {
    return this.world.reconciles
  }

  /** Adds nodes to the cluster. */
  async addNodes(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.world.client.create(Nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } })
    }
  }

  /** Says in the status of the DynaKube on which nodes agents run. */
  async runAgents(addresses: Readonly<Record<string, string>>): Promise<void> {
    const instances = Object.fromEntries(
      Object.entries(addresses).map(([node, ipAddress]) => [node, { podName: `agent-${node}`, ipAddress }]),
    )
    const dynakube = await this.world.get(DynaKubes, { namespace: NAMESPACE, name: TENANT })
    const changed = { ...dynakube, status: { oneAgent: { instances } } }
    await this.#untilSeen(DynaKubes, await this.world.client.update(DynaKubes, changed, { subresource: 'status' }))
  }

  /** Sends a heartbeat of a node, or changes it, and waits for the reconcile that follows. */
  touch(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<ReconcileRecord> {
    const patch = { metadata: { annotations: { heartbeat: String(this.world.clock.now()) } }, spec }
    return this.#reconcile(name, () => this.world.client.patch(Nodes, { name }, { type: 'merge', patch }))
  }

  remove(name: string): Promise<ReconcileRecord> {
    return this.#reconcile(name, () => this.world.delete(Nodes, name))
  }

  /** What the controller remembers of all nodes. */
  cached(): Promise<Stored<ConfigMap> | undefined> {
    return this.world.find(ConfigMaps, { namespace: NAMESPACE, name: NODE_CACHE })
  }

  /** Changes the ConfigMap behind the controller's back, and waits until it sees that. */
  async tamper(patch: Readonly<Record<string, unknown>>): Promise<void> {
    const key = { namespace: NAMESPACE, name: NODE_CACHE }
    await this.#untilSeen(ConfigMaps, await this.world.client.patch(ConfigMaps, key, { type: 'merge', patch }))
  }

  async #reconcile(name: string, cause: () => Promise<unknown>): Promise<ReconcileRecord> {
    // One that is in progress knows nothing of what the test did before.
    await this.world.pass(1)
    const sinceMs = this.world.clock.now()
    await cause()
    const found = () => this.records.findLast(({ key, startedMs }) => key.name === name && startedMs >= sinceMs)
    await this.world.until(() => found() !== undefined)
    // `until` has seen it.
    return found() as ReconcileRecord
  }

  async #untilSeen<T extends KubeObject>(resource: Resource<T>, { metadata }: Stored<T>): Promise<void> {
    const key = { namespace: NAMESPACE, name: metadata.name }
    const isSeen = ({ operator }: Replica<CreatedOperator<[Node]>>) =>
      operator.cache.get(resource, key)?.metadata.resourceVersion === metadata.resourceVersion
    await this.world.until(() => this.world.replicas.every(isSeen))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world.stop()
  }
}
