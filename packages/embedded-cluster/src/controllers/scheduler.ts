/** Chooses a node for every pod without one. */

import { timestamp } from '../clock.ts'
import { withCondition } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import type { Namespace, Node, PersistentVolumeClaim, StorageClass } from './kinds/cluster.ts'
import { controllerOf, isTerminating, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import { isFinished, type Pod, podCondition } from './kinds/pods.ts'
import { claimsOf } from './pod-index.ts'
import { asJson, asObject, ResourceClient } from './resource-client.ts'
import { matchesNode, preference, repellingTaint } from './scheduling/node-fit.ts'
import { NodeUsage, requestsOf } from './scheduling/node-usage.ts'
import { affinityCheck, isRepelling } from './scheduling/pod-affinity.ts'
import type { SimulatorController } from './simulator-controller.ts'

const SOURCE = 'default-scheduler'

/** The chosen node, or the reason why there is none. */
type Choice = { readonly node: Node } | { readonly why: string }

function isWaiting(pod: Pod): boolean {
  const { nodeName, schedulerName = SOURCE, schedulingGates = [] } = pod.spec
  const isOurs = schedulerName === SOURCE && schedulingGates.length === 0
  return isOurs && nodeName === undefined && !isTerminating(pod) && !isFinished(pod)
}

class PodScheduler {
  readonly usage = new NodeUsage()
  /** Pods that were unschedulable in the last attempt. */
  readonly unschedulable = new Map<string, Pod>()
  readonly repelling = new Map<string, Pod>()
  readonly #context: ControllerContext
  readonly #pods: ResourceClient<Pod>
  readonly #nodes: ResourceClient<Node>
  readonly #claims: ResourceClient<PersistentVolumeClaim>
  readonly #classes: ResourceClient<StorageClass>
  readonly #namespaces: ResourceClient<Namespace>

  constructor(context: ControllerContext) {
    const { api } = context
    this.#context = context
    this.#pods = new ResourceClient(api, 'pods')
    this.#nodes = new ResourceClient(api, 'nodes')
    this.#claims = new ResourceClient(api, 'persistentvolumeclaims')
    this.#classes = new ResourceClient(api, 'storageclasses.storage.k8s.io')
    this.#namespaces = new ResourceClient(api, 'namespaces')
  }

  reset(): void {
    this.usage.clear()
    this.unschedulable.clear()
    this.repelling.clear()
  }

  async schedule(key: string): Promise<undefined> {
    this.unschedulable.delete(key)
    const { namespace, name } = splitKey(key)
    const pod = this.#pods.get(namespace, name)
    if (pod === undefined || !isWaiting(pod)) return
    const choice = this.#choose(pod)
    if ('node' in choice) await this.#bind(pod, choice.node)
    else {
      this.unschedulable.set(key, pod)
      await this.#reportUnschedulable(pod, choice.why)
    }
  }

  #choose(pod: Pod): Choice {
    const unbound = this.#unboundClaim(pod)
    if (unbound !== undefined) return { why: unbound }
    const nodes = this.#nodes.list()
    const { spec } = pod
    const requests = requestsOf(spec)
    const { pods } = this.#context
    const neighbourhood = { pods, namespaces: this.#namespaces, nodes, repelling: this.repelling.values() }
    const problemWith = affinityCheck(pod, neighbourhood)
    const problems = new Map<string, number>()
    const fitting: Node[] = []
    for (const node of nodes) {
      const problem = this.#unfit(pod, node, requests) ?? problemWith(node)
      if (problem === undefined) fitting.push(node)
      else problems.set(problem, (problems.get(problem) ?? 0) + 1)
    }
    const best = this.#best(pod, fitting)
    if (best !== undefined) return { node: best }
    const counted = [...problems].map(([problem, count]) => `${count} ${problem}`).join(', ')
    return { why: `0/${nodes.length} nodes are available: ${counted || 'there are no nodes'}` }
  }

  #unfit(pod: Pod, node: Node, requests: ReadonlyMap<string, number>): string | undefined {
    const { spec } = pod
    if (!matchesNode(spec, node)) return 'node affinity or selector'
    const taint = repellingTaint(spec, node)
    if (taint !== undefined) return `untolerated taint ${taint.key}`
    if (this.usage.hasPortConflict(node, spec)) return 'host port in use'
    const missing = this.usage.missing(node, requests)
    return missing === undefined ? undefined : `insufficient ${missing}`
  }

  /**
   * Most preferred, then with the fewest pods of the same controller, then the least loaded; ties are broken by the
   * order of nodes.
   */
  #best(pod: Pod, nodes: readonly Node[]): Node | undefined {
    if (nodes.length < 2) return nodes[0]
    const owner = controllerOf(pod)
    const siblings = new Map<string, number>()
    for (const { spec } of owner === undefined ? [] : this.#context.pods.controlledBy(owner.uid)) {
      if (spec.nodeName !== undefined) siblings.set(spec.nodeName, (siblings.get(spec.nodeName) ?? 0) + 1)
    }
    const scored = nodes.map((node, index) => {
      const { name } = node.metadata
      return { node, score: [-preference(pod.spec, node), siblings.get(name) ?? 0, this.usage.podCount(name), index] }
    })
    return scored.reduce((best, candidate) => (isLess(candidate.score, best.score) ? candidate : best)).node
  }

  /** A claim that must be bound before the pod is scheduled. */
  #unboundClaim(pod: Pod): string | undefined {
    for (const name of claimsOf(pod)) {
      const claim = this.#claims.get(namespaceOf(pod), name)
      if (claim === undefined) return `persistentvolumeclaim ${name} does not exist`
      if (claim.status?.phase === 'Bound') continue
      const storageClass = this.#classes.get('', claim.spec.storageClassName ?? '')
      if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer')
        return `persistentvolumeclaim ${name} is not bound`
    }
    return undefined
  }

  async #bind(pod: Pod, node: Node): Promise<void> {
    const { name, namespace, uid } = pod.metadata
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node.metadata.name },
    }
    await this.#context.api.create('pods', asJson(binding), { subresource: 'binding' })
    const message = `assigned ${keyOf(pod)} to ${node.metadata.name}`
    await this.#context.events.record(pod, { reason: 'Scheduled', message, source: SOURCE })
  }

  async #reportUnschedulable(pod: Pod, message: string): Promise<void> {
    if (podCondition(pod, 'PodScheduled')?.message === message) return
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message } as const
    const conditions = withCondition(pod.status?.conditions, condition, timestamp(this.#context.clock.now()))
    await this.#pods.updateStatus(pod, { ...pod.status, phase: pod.status?.phase ?? 'Pending', conditions })
    await this.#context.events.record(pod, { type: 'Warning', reason: 'FailedScheduling', message, source: SOURCE })
  }
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0
    if (value !== other) return value < other
  }
  return false
}

/** The scheduler named `default-scheduler`. It does not preempt: priorities have no effect. */
export function createScheduler(context: ControllerContext): SimulatorController {
  const scheduler = new PodScheduler(context)
  const retryAll = (enqueue: (key: string) => void) => {
    for (const key of scheduler.unschedulable.keys()) enqueue(key)
  }
  // A scheduled pod only enables other pods that have an affinity to it.
  const retryAttracted = (enqueue: (key: string) => void) => {
    for (const [key, pod] of scheduler.unschedulable) if (pod.spec.affinity?.podAffinity !== undefined) enqueue(key)
  }
  return new Controller(context, {
    name: 'scheduler',
    // One pod at a time: each decision must see the previous one.
    concurrency: 1,
    watches: {
      nodes: (_event, enqueue) => retryAll(enqueue),
      persistentvolumeclaims: (_event, enqueue) => retryAll(enqueue),
      pods: ({ type, object, previous }, enqueue) => {
        const pod = asObject<Pod>(object)
        const before = previous === undefined ? undefined : asObject<Pod>(previous)
        scheduler.usage.replace(before, type === 'DELETED' ? undefined : pod)
        if (type !== 'DELETED' && isRepelling(pod)) scheduler.repelling.set(keyOf(pod), pod)
        else scheduler.repelling.delete(keyOf(pod))
        if (type !== 'DELETED' && isWaiting(pod)) enqueue(keyOf(pod))
        const hasFinished = isFinished(pod) && before !== undefined && !isFinished(before)
        if (type === 'DELETED' || hasFinished) retryAll(enqueue)
        else if (before?.spec.nodeName !== pod.spec.nodeName) retryAttracted(enqueue)
      },
    },
    reset: () => scheduler.reset(),
    reconcile: (key) => scheduler.schedule(key),
  })
}
