/** Reconciles a node: it is recorded, reported as being removed, or dropped. */
import { ownValue } from '@reeve/http'
import { ConfigMaps, isAlreadyExists, isConflict, type Node, Nodes, type Stored } from '@reeve/kube'
import type { Reconcile, ReconcileRequest, ReconcileResult } from '@reeve/runtime/controller'
import { controllerReference } from '@reeve/runtime/owner-references'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import { FIELD_MANAGER } from '../../installed-names.ts'
import { createTenantClient, type TenantClient, type TenantClientOptions } from '../../tenant/client/tenant-client.ts'
import { NamespaceView } from '../references/namespace-view.ts'
import { deploymentOfPod } from './cache-owner.ts'
import { type MarkingContext, markForTermination } from './mark-for-termination.ts'
import type { NodeEntry } from './node-entry.ts'
import { NODE_CACHE, NodeTable } from './node-table.ts'

const MINUTE = 60_000

/** Intervals for nodes that do not change. */
const NODE_TIMING = Object.freeze({
  /**
   * How old `seen` gets before it is moved. All nodes move together, so that a cluster whose thousands of nodes each
   * have their heartbeats costs one write in this time.
   */
  seenStepMs: 5 * MINUTE,
  /** Between two comparisons of the table with the nodes of the cluster. */
  pruneMs: 10 * MINUTE,
  /** A node that has no agent for so long is forgotten. */
  forgetMs: 60 * MINUTE,
  /** A node is announced again only after so long. */
  markMs: 60 * MINUTE,
})

/** How many lost nodes one reconcile reports and drops at most; the next one continues. */
const MAX_FORGOTTEN_PER_PASS = 20

/** Between two such comparisons, and after a conflict on the ConfigMap. */
const SOON_MS = 1_000

/** Set by the cluster autoscaler on a node that it is about to delete. */
const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler'

/** What the controller of nodes needs to know. */
export interface NodesOptions {
  /** The namespace of the operator and its DynaKubes. */
  readonly namespace: string
  /** The operator's own pod, whose Deployment owns the ConfigMap. Without it the ConfigMap has no owner, as outside a cluster. */
  readonly podName?: string | undefined
  /** @default a client with its own connections */
  readonly connect?: (options: TenantClientOptions) => TenantClient
}

/**
 * The reconcile function of nodes.
 *
 * *Guarantees*: a node that is removed is reported at least once, as long as its tenant responds eventually. The
 * event is sent before it is recorded: a crash in between sends it twice rather than never. What failed for one node
 * does not undo what was done for others.
 */
export function nodesReconcile(options: NodesOptions): Reconcile<Node> {
  return (request) => new NodesPass(options, request).run()
}

/** One reconcile, caused by one node. */
class NodesPass {
  readonly #options: NodesOptions
  readonly #request: ReconcileRequest<Node>
  readonly #table: NodeTable
  readonly #marking: MarkingContext
  readonly #nowMs: number
  readonly #failures: Error[] = []
  #isUnfinished = false

  constructor(options: NodesOptions, request: ReconcileRequest<Node>) {
    const { namespace, connect = createTenantClient } = options
    const { cache, clock, logger, signal } = request
    this.#options = options
    this.#request = request
    this.#table = new NodeTable(cache.get(ConfigMaps, { namespace, name: NODE_CACHE }))
    this.#marking = { view: new NamespaceView(cache, namespace), connect, clock, logger, signal }
    this.#nowMs = clock.now()
  }

  async run(): Promise<ReconcileResult> {
    const { key, object } = this.#request
    if (object === undefined) await this.#attempt(() => this.#forget(key.name))
    else await this.#attempt(() => this.#announce(object))
    if (this.#isSurveyDue(object)) this.#survey()
    if (this.#isPruneDue && this.#failures.length === 0) await this.#prune()
    const isStored = await this.#store()
    const [failure] = this.#failures
    if (failure !== undefined) {
      throw this.#failures.length === 1 ? failure : new AggregateError(this.#failures, messages(this.#failures))
    }
    return isStored && !this.#isUnfinished ? {} : { requeueAfterMs: SOON_MS }
  }

  /** A node that takes no more pods is about to go. */
  async #announce(node: Stored<Node>): Promise<void> {
    if (!isLeaving(node)) return
    const { name } = node.metadata
    const agent = this.#agentOn(name)
    if (agent === undefined) return
    const { markedMs } = this.#table.entry(name) ?? {}
    const entry = { seenMs: this.#nowMs, ip: agent.ip, instance: agent.dynakube.metadata.name }
    if (!this.#isMarkDue(markedMs)) return
    await markForTermination(agent.dynakube, entry, this.#marking)
    this.#table.set(name, { ...entry, markedMs: this.#nowMs })
  }

  /** A removed node is reported if it was not yet, and if its DynaKube has not noticed; then it is dropped. */
  async #forget(name: string): Promise<void> {
    const entry = this.#table.entry(name)
    const agent = this.#agentOn(name)
    if (entry !== undefined && agent !== undefined && this.#isMarkDue(entry.markedMs)) {
      await markForTermination(agent.dynakube, entry, this.#marking)
    }
    this.#table.remove(name)
  }

  /** Whether the table differs from the current state of the node, apart from a recent `seen`. */
  #isSurveyDue(node: Stored<Node> | undefined): boolean {
    if (node === undefined) return this.#table.isNew
    const { name } = node.metadata
    const agent = this.#agentOn(name)
    // Without an address the host cannot be found later: nothing is recorded.
    if (agent === undefined || agent.ip === '') return this.#table.isNew
    const entry = this.#table.entry(name)
    return (
      entry?.ip !== agent.ip ||
      entry.instance !== agent.dynakube.metadata.name ||
      this.#nowMs - entry.seenMs >= NODE_TIMING.seenStepMs
    )
  }

  /** Updates the entries of all nodes together. */
  #survey(): void {
    for (const { metadata } of this.#request.cache.list(Nodes)) {
      const agent = this.#agentOn(metadata.name)
      if (agent === undefined || agent.ip === '') continue
      const { markedMs } = this.#table.entry(metadata.name) ?? {}
      const entry: NodeEntry = { seenMs: this.#nowMs, ip: agent.ip, instance: agent.dynakube.metadata.name }
      this.#table.set(metadata.name, { ...entry, ...(markedMs !== undefined && { markedMs }) })
    }
  }

  get #isPruneDue(): boolean {
    const { prunedMs } = this.#table
    return prunedMs === undefined || this.#nowMs - prunedMs > NODE_TIMING.pruneMs
  }

  /** Finds nodes that were deleted while no operator ran, and removes obsolete entries. */
  async #prune(): Promise<void> {
    const silent = new Set<string>()
    let forgotten = 0
    for (const name of this.#table.names()) {
      if (this.#request.cache.get(Nodes, { name }) !== undefined) {
        if (this.#isStale(this.#table.entry(name))) this.#table.remove(name)
        continue
      }
      const { name: dynakube = '' } = this.#agentOn(name)?.dynakube.metadata ?? {}
      if (forgotten === MAX_FORGOTTEN_PER_PASS) this.#isUnfinished = true
      else if (silent.has(dynakube)) continue
      else if (await this.#attempt(() => this.#forget(name))) forgotten += 1
      // Its other nodes would fail as well, and those of other DynaKubes must be processed.
      else silent.add(dynakube)
    }
    // Otherwise the next reconcile prunes again.
    if (!this.#isUnfinished && this.#failures.length === 0) this.#table.prunedAt(this.#nowMs)
  }

  #isStale(entry: NodeEntry | undefined): boolean {
    return entry === undefined || entry.ip === '' || this.#nowMs - entry.seenMs > NODE_TIMING.forgetMs
  }

  #isMarkDue(markedMs: number | undefined): boolean {
    return markedMs === undefined || this.#nowMs - markedMs > NODE_TIMING.markMs
  }

  /** The agent on a node, by the first DynaKube that has one there. */
  #agentOn(node: string): { readonly dynakube: Stored<DynaKube>; readonly ip: string } | undefined {
    const { namespace } = this.#options
    for (const dynakube of this.#request.cache.list(DynaKubes, { namespace })) {
      const instance = ownValue(dynakube.status?.oneAgent?.instances, node)
      if (instance !== undefined) return { dynakube, ip: instance.ipAddress ?? '' }
    }
    return undefined
  }

  /** Keeps a failure for the end, so that the rest is done and stored; returns whether there was none. */
  async #attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.#request.signal.throwIfAborted()
      if (!(error instanceof Error)) throw error
      this.#failures.push(error)
      return false
    }
  }

  /** Writes the table if it changed; `false` on a conflict. */
  async #store(): Promise<boolean> {
    if (!this.#table.isChanged) return true
    const { namespace, podName } = this.#options
    const { client, signal } = this.#request
    const options = { signal, fieldManager: FIELD_MANAGER }
    try {
      if (this.#table.isNew) {
        const owner =
          podName === undefined ? undefined : await deploymentOfPod(client, { namespace, name: podName }, signal)
        const owners = owner === undefined ? [] : [controllerReference(owner)]
        await client.create(ConfigMaps, this.#table.toConfigMap(namespace, owners), options)
      } else await client.update(ConfigMaps, this.#table.toConfigMap(namespace, []), options)
      return true
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return false
      throw error
    }
  }
}

function isLeaving({ spec }: Node): boolean {
  return spec?.unschedulable === true || (spec?.taints ?? []).some(({ key }) => key === AUTOSCALER_TAINT)
}

const messages = (failures: readonly Error[]) => failures.map(({ message }) => message).join('; ')
