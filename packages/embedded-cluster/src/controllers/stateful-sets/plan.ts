/** The next steps of a StatefulSet, as pure functions. */

import { isTerminating } from '../kinds/meta.ts'
import { availableAtMs, isFinished, isReady, type Pod } from '../kinds/pods.ts'
import type { ControllerRevision, StatefulSet } from '../kinds/workloads.ts'
import { BURST } from '../pod-creation.ts'
import { resolveIntOrPercent } from '../quantities.ts'
import { revisionNameOf } from './pod-identity.ts'

/** The set, its pods by ordinal, and its revisions. */
export interface SetState {
  readonly set: StatefulSet
  readonly pods: ReadonlyMap<number, Pod>
  /** The revision of pods below the partition. */
  readonly current: ControllerRevision
  /** The revision of all other pods. */
  readonly update: ControllerRevision
  readonly nowMs: number
}

/** One action. */
export type Action =
  | { readonly create: number; readonly revision: ControllerRevision }
  | { readonly delete: Pod; readonly ordinal: number; readonly because: 'ended' | 'surplus' | 'outdated' }

/** The first desired ordinal, and the one after the last. Not a list: `replicas` may be 2^31. */
function wantedOrdinals({ spec }: StatefulSet): { readonly start: number; readonly end: number } {
  const start = spec.ordinals?.start ?? 0
  return { start, end: start + (spec.replicas ?? 1) }
}

/** Whether the pod has been ready for `minReadySeconds`. */
export function isAvailable(pod: Pod, set: StatefulSet, nowMs: number): boolean {
  const atMs = availableAtMs(pod, set.spec.minReadySeconds ?? 0)
  return atMs !== undefined && atMs <= nowMs
}

/**
 * The next actions. With the policy OrderedReady there is at most one: pods are created from the lowest ordinal, each
 * after the previous one is available, and deleted from the highest. With Parallel pods do not wait for each other.
 */
export function nextActions(state: SetState): Action[] {
  const { set } = state
  const isOrdered = set.spec.podManagementPolicy !== 'Parallel'
  const actions: Action[] = []
  const { start, end } = wantedOrdinals(set)
  for (let ordinal = start; ordinal < end && actions.length < BURST; ordinal += 1) {
    const pod = state.pods.get(ordinal)
    const action = repair(state, ordinal, pod)
    if (action !== undefined) actions.push(action)
    const isFine = pod !== undefined && action === undefined && isHealthy(pod, state)
    if (isOrdered && !isFine) return actions
  }
  const surplus = condemned(state)
  for (const [ordinal, pod] of surplus) {
    if (!isTerminating(pod)) actions.push({ delete: pod, ordinal, because: 'surplus' })
    if (isOrdered) return actions
  }
  return actions.length > 0 || surplus.length > 0 ? actions : outdated(state)
}

function repair(state: SetState, ordinal: number, pod: Pod | undefined): Action | undefined {
  if (pod === undefined) return { create: ordinal, revision: revisionFor(state, ordinal) }
  return isFinished(pod) && !isTerminating(pod) ? { delete: pod, ordinal, because: 'ended' } : undefined
}

function isHealthy(pod: Pod, { set, nowMs }: SetState): boolean {
  return !isTerminating(pod) && !isFinished(pod) && isAvailable(pod, set, nowMs)
}

/** Pods beyond the desired ordinals, highest first. */
function condemned({ set, pods }: SetState): [number, Pod][] {
  const { start, end } = wantedOrdinals(set)
  return [...pods].filter(([ordinal]) => ordinal < start || ordinal >= end).sort(([a], [b]) => b - a)
}

function revisionFor({ set, current, update }: SetState, ordinal: number): ControllerRevision {
  return ordinal < partitionOf(set) ? current : update
}

/** The lowest ordinal that a rolling update replaces. */
function partitionOf(set: StatefulSet): number {
  const { updateStrategy, ordinals } = set.spec
  if (updateStrategy?.type === 'OnDelete') return 0
  return (ordinals?.start ?? 0) + (updateStrategy?.rollingUpdate?.partition ?? 0)
}

/**
 * Pods to replace in the rolling update: unavailable ones immediately, the others from the highest ordinal, as many as
 * may be unavailable at a time.
 */
function outdated(state: SetState): Action[] {
  const { set, pods, update } = state
  const { updateStrategy } = set.spec
  if (updateStrategy?.type === 'OnDelete') return []
  const limit = updateStrategy?.rollingUpdate?.maxUnavailable ?? 1
  const budget = Math.max(1, resolveIntOrPercent(limit, set.spec.replicas ?? 1, 'up'))
  const { start, end } = wantedOrdinals(set)
  const wanted = [...pods].filter(([ordinal]) => ordinal >= start && ordinal < end).sort(([a], [b]) => b - a)
  let missing = end - start - wanted.length
  const broken: Action[] = []
  const working: Action[] = []
  for (const [ordinal, pod] of wanted) {
    const works = isHealthy(pod, state)
    if (!works) missing += 1
    if (isTerminating(pod) || ordinal < partitionOf(set)) continue
    if (revisionNameOf(pod) === update.metadata.name) continue
    const list = works ? working : broken
    list.push({ delete: pod, ordinal, because: 'outdated' })
  }
  return broken.length > 0 ? broken : working.slice(0, Math.max(0, budget - missing))
}

/** Whether the pod is running and ready. */
export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isReady(pod)
}
