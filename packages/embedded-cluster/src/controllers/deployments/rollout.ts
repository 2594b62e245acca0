/** The next number of replicas of each ReplicaSet of a Deployment, as pure functions. */

import { byAge } from '../kinds/meta.ts'
import type { Deployment, ReplicaSet } from '../kinds/workloads.ts'
import { resolveIntOrPercent } from '../quantities.ts'
import { desiredReplicasOf, maxReplicasOf } from './revisions.ts'

/** A Deployment and its current ReplicaSets. */
export interface Rollout {
  readonly deployment: Deployment
  /** The ReplicaSet with the Deployment's current template. */
  readonly newSet: ReplicaSet | undefined
  readonly oldSets: readonly ReplicaSet[]
}

/** Replicas to set, by name of the ReplicaSet. Sets that need no change are omitted. */
export type Targets = ReadonlyMap<string, number>

/** How many pods may be unavailable and how many may exist in excess during an update. */
export interface UpdateBudget {
  readonly maxUnavailable: number
  readonly maxSurge: number
}

/** The desired replicas. */
export function replicasOf(of: { readonly spec: { readonly replicas?: number } }): number {
  return of.spec.replicas ?? 1
}

/** The sum of the desired replicas of the sets. */
export function totalReplicas(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0)
}

/** The sum of the available replicas of the sets. */
export function totalAvailable(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + (set.status?.availableReplicas ?? 0), 0)
}

/** Every ReplicaSet of the rollout. */
export function allSets({ newSet, oldSets }: Rollout): readonly ReplicaSet[] {
  return newSet === undefined ? oldSets : [...oldSets, newSet]
}

/**
 * The budget of the Deployment's strategy, in pods. Surge rounds up and unavailability rounds down; they are never both
 * 0.
 */
export function updateBudget(deployment: Deployment): UpdateBudget {
  const { strategy } = deployment.spec
  if (strategy?.type === 'Recreate') return { maxUnavailable: 0, maxSurge: 0 }
  const replicas = replicasOf(deployment)
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {}
  const surge = resolveIntOrPercent(maxSurge, replicas, 'up')
  const unavailable = resolveIntOrPercent(maxUnavailable, replicas, 'down')
  return {
    maxSurge: surge,
    maxUnavailable: Math.min(surge === 0 && unavailable === 0 ? 1 : unavailable, replicas),
  }
}

/** Replicas of the new set that the surge allows, given the replicas of the other sets. */
export function newSetReplicas(rollout: Rollout): number {
  const { deployment, newSet } = rollout
  const wanted = replicasOf(deployment)
  if (deployment.spec.strategy?.type === 'Recreate') return wanted
  const current = newSet === undefined ? 0 : replicasOf(newSet)
  if (current >= wanted) return wanted
  const room = wanted + updateBudget(deployment).maxSurge - totalReplicas(allSets(rollout))
  return room <= 0 ? current : Math.min(wanted, current + room)
}

/**
 * The next step of a rolling update: the new set grows as far as the surge allows; old sets first lose unavailable
 * pods, then as many as are available beyond the minimum.
 */
export function rollingTargets(rollout: Rollout): Targets {
  const { deployment, newSet, oldSets } = rollout
  const targets = new Map<string, number>()
  if (newSet !== undefined) setTarget(targets, newSet, newSetReplicas(rollout))
  const minAvailable = replicasOf(deployment) - updateBudget(deployment).maxUnavailable
  const newUnavailable = newSet === undefined ? 0 : replicasOf(newSet) - (newSet.status?.availableReplicas ?? 0)
  // Counted by desired replicas: pods that a set is already dropping must not be dropped twice.
  const spare = totalReplicas(allSets(rollout)) - minAvailable - Math.max(0, newUnavailable)
  if (spare <= 0) return targets
  const remaining = new Map(oldSets.map((set) => [set.metadata.name, replicasOf(set)]))
  takeFrom(oldSets, remaining, spare, (set) => replicasOf(set) - (set.status?.availableReplicas ?? 0))
  takeFrom(oldSets, remaining, totalAvailable(allSets(rollout)) - minAvailable, () => Number.POSITIVE_INFINITY)
  for (const set of oldSets) setTarget(targets, set, remaining.get(set.metadata.name) ?? 0)
  return targets
}

/** All old sets scale to zero; the caller creates the new one after their pods are deleted. */
export function recreateTargets({ oldSets }: Rollout): Targets {
  const targets = new Map<string, number>()
  for (const set of oldSets) setTarget(targets, set, 0)
  return targets
}

/** Whether the Deployment was scaled since its ReplicaSets were last updated. */
export function wasScaled(rollout: Rollout): boolean {
  const wanted = replicasOf(rollout.deployment)
  return allSets(rollout).some((set) => {
    const recorded = desiredReplicasOf(set)
    return replicasOf(set) > 0 && recorded !== undefined && recorded !== wanted
  })
}

/**
 * Distributes a changed number of replicas. One set gets all of them when it is the only one with pods, or when the new
 * one had all before; in the middle of a rolling update every set keeps its share.
 */
export function scaledTargets(rollout: Rollout): Targets {
  const { deployment, newSet, oldSets } = rollout
  const wanted = replicasOf(deployment)
  const targets = new Map<string, number>()
  const active = allSets(rollout).filter((set) => replicasOf(set) > 0)
  const only = active.length > 1 ? undefined : (active[0] ?? newSet ?? [...oldSets].sort(byAge).at(-1))
  if (active.length <= 1) {
    if (only !== undefined) setTarget(targets, only, wanted)
    return targets
  }
  if (newSet !== undefined && isSaturated(newSet, wanted)) {
    for (const set of oldSets) setTarget(targets, set, 0)
    return targets
  }
  if (deployment.spec.strategy?.type === 'Recreate') return targets
  return sharedTargets(active, wanted, wanted === 0 ? 0 : wanted + updateBudget(deployment).maxSurge)
}

/** Whether the set had all replicas of the Deployment, and they are available. */
function isSaturated(set: ReplicaSet, wanted: number): boolean {
  return replicasOf(set) === wanted && desiredReplicasOf(set) === wanted && set.status?.availableReplicas === wanted
}

function sharedTargets(active: readonly ReplicaSet[], wanted: number, allowed: number): Targets {
  const targets = new Map<string, number>()
  const bySize = [...active].sort((a, b) => replicasOf(b) - replicasOf(a) || -byAge(a, b))
  const sizes = bySize.map((set) => {
    const was = maxReplicasOf(set) ?? wanted
    return was === 0 ? 0 : Math.round((replicasOf(set) * allowed) / was)
  })
  // Rounding may leave a difference, which the largest set absorbs.
  const difference = allowed - sizes.reduce((sum, size) => sum + size, 0)
  for (const [index, set] of bySize.entries()) {
    const size = (sizes[index] ?? 0) + (index === 0 ? difference : 0)
    targets.set(set.metadata.name, Math.max(0, size))
  }
  return targets
}

function setTarget(targets: Map<string, number>, set: ReplicaSet, replicas: number): void {
  if (replicasOf(set) !== replicas) targets.set(set.metadata.name, replicas)
}

/** Removes up to `budget` replicas from the sets, oldest first, and at most `limit` from each. */
function takeFrom(
  sets: readonly ReplicaSet[],
  remaining: Map<string, number>,
  budget: number,
  limit: (set: ReplicaSet) => number,
): void {
  let left = budget
  for (const set of [...sets].sort(byAge)) {
    if (left <= 0) return
    const { name } = set.metadata
    const has = remaining.get(name) ?? 0
    const taken = Math.max(0, Math.min(has, left, limit(set)))
    remaining.set(name, has - taken)
    left -= taken
  }
}
