/** Runs one pod of a DaemonSet on every matching node. */
import { claim } from './claims.ts'
import { positive } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import { placementOn, targetNode, templateFor } from './daemon-sets/placement.ts'
import {
  type DaemonPlan,
  HASH_LABEL,
  isAvailable,
  type NodeState,
  placementPlan,
  updatePlan,
} from './daemon-sets/plan.ts'
import type { Node } from './kinds/cluster.ts'
import { controllerOf, isTerminating, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import { availableAtMs, isFinished, isReady, type Pod } from './kinds/pods.ts'
import type { ControllerRevision, DaemonSet, DaemonSetStatus } from './kinds/workloads.ts'
import { failureMessage, podFromTemplate, slowStart } from './pod-creation.ts'
import { asObject, jsonEquals, ResourceClient } from './resource-client.ts'
import { RevisionHistory, revisionHash, templateOf } from './revision-history.ts'
import type { SimulatorController } from './simulator-controller.ts'
import { earliest, parseTimestamp } from './time.ts'

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'
const SOURCE = 'daemonset-controller'
/** A terminated pod is replaced after a delay, so that one that cannot run does not keep the cluster busy. */
const REPLACE_ENDED_AFTER_MS = 10_000

class DaemonSetReconciler {
  readonly sets: ResourceClient<DaemonSet>
  readonly #context: ControllerContext
  readonly #pods: ResourceClient<Pod>
  readonly #nodes: ResourceClient<Node>
  readonly #history: RevisionHistory

  constructor(context: ControllerContext) {
    this.#context = context
    this.sets = new ResourceClient(context.api, 'daemonsets.apps')
    this.#pods = new ResourceClient(context.api, 'pods')
    this.#nodes = new ResourceClient(context.api, 'nodes')
    this.#history = new RevisionHistory(context)
  }

  async reconcile(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { namespace, name } = splitKey(key)
    const set = this.sets.get(namespace, name)
    if (set === undefined) return undefined
    const { pods } = this.#context
    await claim(set, this.#pods, { owned: pods.controlledBy(set.metadata.uid), orphans: pods.orphansIn(namespace) })
    if (isTerminating(set)) return undefined
    const revision = await this.#history.ensure(set)
    const hash = revisionHash(revision)
    const placement = placementPlan(this.#states(set), hash)
    const paused = placement.remove.filter((pod) => this.#replaceInMs(pod) > 0)
    const now = { ...placement, remove: placement.remove.filter((pod) => !paused.includes(pod)) }
    let requeueAfterMs: number | undefined
    try {
      await this.#execute(set, revision, now, signal)
      if (set.spec.updateStrategy?.type !== 'OnDelete') {
        const update = updatePlan(set, this.#states(set), hash, this.#context.clock.now())
        await this.#execute(set, revision, update, signal)
      }
    } finally {
      // Also when pods cannot be created: the desired number shows what is missing.
      requeueAfterMs = await this.#report(set, revision)
    }
    return earliest([requeueAfterMs, ...paused.map((pod) => this.#replaceInMs(pod))])
  }

  /** All existing nodes, and deleted nodes that still have pods of the set. */
  #states(set: DaemonSet): NodeState[] {
    const byNode = Map.groupBy(this.#context.pods.controlledBy(set.metadata.uid), (pod) => targetNode(pod) ?? '')
    const states = this.#nodes.list().map((node): NodeState => {
      const { name } = node.metadata
      return { node: name, placement: placementOn(node, set.spec.template), pods: byNode.get(name) ?? [] }
    })
    const known = new Set(states.map(({ node }) => node))
    for (const [node, pods] of byNode) {
      if (!known.has(node)) states.push({ node, pods, placement: { shouldRun: false, mayStay: false } })
    }
    return states
  }

  /** The remaining delay before a pod that terminated is replaced. */
  #replaceInMs(pod: Pod): number {
    if (!isFinished(pod)) return 0
    const ends = (pod.status?.containerStatuses ?? []).map(
      ({ state }) => parseTimestamp(state.terminated?.finishedAt) ?? 0,
    )
    return Math.max(0, ...ends) + REPLACE_ENDED_AFTER_MS - this.#context.clock.now()
  }

  async #execute(
    set: DaemonSet,
    revision: ControllerRevision,
    { create, remove }: DaemonPlan,
    signal: AbortSignal,
  ): Promise<void> {
    const generation = set.metadata.annotations?.[TEMPLATE_GENERATION]
    const labels = {
      [HASH_LABEL]: revisionHash(revision),
      // Not used here, but users may select by it.
      ...(generation === undefined ? {} : { 'pod-template-generation': generation }),
    }
    const deleted = await slowStart(remove, (pod) => this.#pods.delete(pod), signal)
    const created = await slowStart(
      create,
      (node) => this.#pods.create(podFromTemplate(set, templateFor(node, templateOf(revision)), { labels })),
      signal,
    )
    const { events } = this.#context
    if (deleted.done > 0) {
      await events.record(set, { reason: 'SuccessfulDelete', message: `deleted ${deleted.done} pods`, source: SOURCE })
    }
    if (created.done > 0) {
      await events.record(set, { reason: 'SuccessfulCreate', message: `created ${created.done} pods`, source: SOURCE })
    }
    const error = deleted.error ?? created.error
    if (error === undefined) return
    const message = failureMessage(error)
    if (message !== undefined) {
      await events.record(set, { type: 'Warning', reason: 'FailedCreate', message, source: SOURCE })
    }
    throw error
  }

  async #report(reconciled: DaemonSet, revision: ControllerRevision): Promise<number | undefined> {
    const live = this.sets.get(namespaceOf(reconciled), reconciled.metadata.name)
    if (live === undefined || live.metadata.uid !== reconciled.metadata.uid) return undefined
    // The newer generation is queued already.
    if (live.metadata.generation !== reconciled.metadata.generation) return undefined
    const states = this.#states(live)
    await this.sets.updateStatus(live, this.#status(live, states, revisionHash(revision)))
    const pods = states.flatMap((state) => state.pods)
    const hashes = new Set(pods.map((pod) => pod.metadata.labels?.[HASH_LABEL]))
    const inUse = this.#history.of(live).filter((other) => other === revision || hashes.has(revisionHash(other)))
    await this.#history.forget(live, new Set([revision, ...inUse].map(({ metadata }) => metadata.name)))
    const nowMs = this.#context.clock.now()
    const due = pods.filter(isReady).map((pod) => availableAtMs(pod, live.spec.minReadySeconds ?? 0) ?? 0)
    return earliest(due.filter((atMs) => atMs > nowMs).map((atMs) => atMs - nowMs))
  }

  #status(set: DaemonSet, states: readonly NodeState[], hash: string): DaemonSetStatus {
    const nowMs = this.#context.clock.now()
    const wanted = states.filter(({ placement }) => placement.shouldRun)
    const count = (holds: (pod: Pod) => boolean) => wanted.filter(({ pods }) => pods.some(holds)).length
    const isThere = (pod: Pod) => !isTerminating(pod)
    const available = count((pod) => isAvailable(pod, set, nowMs))
    return {
      currentNumberScheduled: count(isThere),
      numberMisscheduled: states.filter(({ placement, pods }) => !placement.shouldRun && pods.some(isThere)).length,
      desiredNumberScheduled: wanted.length,
      numberReady: count((pod) => isThere(pod) && isReady(pod)),
      ...(set.metadata.generation === undefined ? {} : { observedGeneration: set.metadata.generation }),
      ...positive(
        'updatedNumberScheduled',
        count((pod) => isThere(pod) && pod.metadata.labels?.[HASH_LABEL] === hash),
      ),
      ...positive('numberAvailable', available),
      ...positive('numberUnavailable', wanted.length - available),
    }
  }
}

/** Whether a change of a node may affect a DaemonSet. */
function placementChanged(before: Node, after: Node): boolean {
  return !jsonEquals([before.metadata.labels, before.spec?.taints], [after.metadata.labels, after.spec?.taints])
}

/** The controller of `daemonsets.apps`. */
export function createDaemonSetController(context: ControllerContext): SimulatorController {
  const reconciler = new DaemonSetReconciler(context)
  return new Controller(context, {
    name: 'daemon-sets',
    gathersEvents: true,
    watches: {
      'daemonsets.apps': ({ type, object }, enqueue) => {
        if (type !== 'DELETED') enqueue(keyOf(asObject(object)))
      },
      pods: ({ object }, enqueue) => {
        const pod = asObject<Pod>(object)
        const owner = controllerOf(pod)
        if (owner?.kind === 'DaemonSet') enqueue(`${namespaceOf(pod)}/${owner.name}`)
      },
      nodes: ({ type, object, previous }, enqueue) => {
        const isQuiet = type === 'MODIFIED' && previous !== undefined
        if (isQuiet && !placementChanged(asObject<Node>(previous), asObject<Node>(object))) return
        for (const set of reconciler.sets.list()) enqueue(keyOf(set))
      },
    },
    reconcile: (key, signal) => reconciler.reconcile(key, signal),
  })
}
