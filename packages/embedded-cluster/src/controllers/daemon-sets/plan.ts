/** The next steps of a DaemonSet on each node, as pure functions. */

import { byAge, isTerminating } from '../kinds/meta.ts'
import { availableAtMs, isFinished, type Pod } from '../kinds/pods.ts'
import type { DaemonSet } from '../kinds/workloads.ts'
import { resolveIntOrPercent } from '../quantities.ts'
import type { Placement } from './placement.ts'

/** The label with the revision of a pod. */
export const HASH_LABEL = 'controller-revision-hash'

/** A node and the set's pods on it. */
export interface NodeState {
  readonly node: string
  readonly placement: Placement
  readonly pods: readonly Pod[]
}

/** Nodes that get a new pod, and pods to delete. */
export interface DaemonPlan {
  readonly create: readonly string[]
  readonly remove: readonly Pod[]
}

/** Whether the pod has been ready for `minReadySeconds`. */
export function isAvailable(pod: Pod, set: DaemonSet, nowMs: number): boolean {
  const atMs = availableAtMs(pod, set.spec.minReadySeconds ?? 0)
  return atMs !== undefined && atMs <= nowMs && !isTerminating(pod)
}

/** Creates a pod on every node that should have one and deletes the others. */
export function placementPlan(states: readonly NodeState[], hash: string): DaemonPlan {
  const create: string[] = []
  const remove: Pod[] = []
  for (const { node, placement, pods } of states) {
    const ended = pods.filter((pod) => isFinished(pod) && !isTerminating(pod))
    const running = pods.filter((pod) => !isFinished(pod) && !isTerminating(pod))
    remove.push(...ended)
    if (!placement.shouldRun && !placement.mayStay) remove.push(...running)
    // A node gets a pod only after the previous one is deleted, unless the update surges.
    else if (placement.shouldRun && pods.length === 0) create.push(node)
    else remove.push(...duplicates(running, hash))
  }
  return { create, remove }
}

/** A node may have one pod of each revision during a surging update; the oldest of each stays. */
function duplicates(pods: readonly Pod[], hash: string): Pod[] {
  const isNew = (pod: Pod) => pod.metadata.labels?.[HASH_LABEL] === hash
  const surplus = (group: readonly Pod[]) => [...group].sort(byAge).slice(1)
  return [...surplus(pods.filter(isNew)), ...surplus(pods.filter((pod) => !isNew(pod)))]
}

/** The next step of a rolling update, within maxUnavailable, or within maxSurge if it is set. */
export function updatePlan(set: DaemonSet, states: readonly NodeState[], hash: string, nowMs: number): DaemonPlan {
  const wanted = states.filter(({ placement }) => placement.shouldRun)
  const { maxSurge = 0, maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {}
  const surge = resolveIntOrPercent(maxSurge, wanted.length, 'up')
  const unavailable = Math.max(surge > 0 ? 0 : 1, resolveIntOrPercent(maxUnavailable, wanted.length, 'up'))
  const nodes = wanted.map(({ node, pods }) => {
    const alive = pods.filter((pod) => !isTerminating(pod))
    const fresh = alive.find((pod) => pod.metadata.labels?.[HASH_LABEL] === hash)
    const old = alive.find((pod) => pod.metadata.labels?.[HASH_LABEL] !== hash)
    return { node, fresh, old, isServed: alive.some((pod) => isAvailable(pod, set, nowMs)) }
  })
  const outdated = nodes.filter(({ old }) => old !== undefined)
  if (surge > 0) {
    const isReplaced = ({ fresh }: (typeof nodes)[number]) => fresh !== undefined && isAvailable(fresh, set, nowMs)
    const surging = outdated.filter(({ fresh }) => fresh !== undefined && !isAvailable(fresh, set, nowMs)).length
    const next = outdated.filter(({ fresh }) => fresh === undefined).slice(0, Math.max(0, surge - surging))
    return { create: next.map(({ node }) => node), remove: outdated.filter(isReplaced).flatMap(({ old }) => old ?? []) }
  }
  // Unavailable pods are replaced immediately, without using the budget.
  const idle = outdated.filter(({ isServed }) => !isServed)
  const budget = unavailable - nodes.filter(({ isServed }) => !isServed).length
  const serving = outdated.filter(({ isServed }) => isServed).slice(0, Math.max(0, budget))
  return { create: [], remove: [...idle, ...serving].flatMap(({ old }) => old ?? []) }
}
