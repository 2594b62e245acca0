/** The status of a Deployment: counts, availability, and the progress of its rollout. */
import { timestamp } from '../../clock.ts'
import { findCondition, positive, withCondition, withoutCondition } from '../conditions.ts'
import type { Condition } from '../kinds/meta.ts'
import type { Deployment, DeploymentStatus, ReplicaSet } from '../kinds/workloads.ts'
import { parseTimestamp } from '../time.ts'
import { allSets, type Rollout, replicasOf, totalAvailable, totalReplicas, updateBudget } from './rollout.ts'

/** No deadline: the largest 32-bit number. */
const NO_DEADLINE = 2 ** 31 - 1

/** A status, and when to update it without an event. */
export interface StatusOutcome {
  readonly status: DeploymentStatus
  readonly requeueAfterMs: number | undefined
}

/** The current status of the rollout; `hasCreated` if its new ReplicaSet was created in this reconcile. */
export function deploymentStatus(rollout: Rollout, nowMs: number, hasCreated: boolean): StatusOutcome {
  const { deployment, newSet } = rollout
  const sets = allSets(rollout)
  const available = totalAvailable(sets)
  const sum = (of: (set: ReplicaSet) => number | undefined) => sets.reduce((total, set) => total + (of(set) ?? 0), 0)
  const counts: DeploymentStatus = {
    ...(deployment.metadata.generation === undefined ? {} : { observedGeneration: deployment.metadata.generation }),
    ...positive(
      'replicas',
      sum((set) => set.status?.replicas),
    ),
    ...positive('updatedReplicas', newSet?.status?.replicas ?? 0),
    ...positive(
      'readyReplicas',
      sum((set) => set.status?.readyReplicas),
    ),
    ...positive('availableReplicas', available),
    ...positive('unavailableReplicas', totalReplicas(sets) - available),
    ...positive('collisionCount', deployment.status?.collisionCount ?? 0),
  }
  const now = timestamp(nowMs)
  let conditions = deployment.status?.conditions
  conditions = setCondition(conditions, availability(deployment, available), now)
  conditions = withReplicaFailure(conditions, rollout, now)
  const { condition, requeueAfterMs } = progress(rollout, counts, nowMs, hasCreated)
  if (condition !== undefined) conditions = setCondition(conditions, condition, now)
  return { status: { ...counts, conditions }, requeueAfterMs }
}

function availability(deployment: Deployment, available: number): Condition {
  const needed = replicasOf(deployment) - updateBudget(deployment).maxUnavailable
  const type = 'Available'
  return available >= needed
    ? { type, status: 'True', reason: 'MinimumReplicasAvailable', message: `at least ${needed} pods are available` }
    : {
        type,
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: `fewer than ${needed} pods are available`,
      }
}

interface Progress {
  /** `undefined` to keep the current condition. */
  readonly condition?: Condition
  readonly requeueAfterMs?: number
}

function progress(
  { deployment, newSet }: Rollout,
  counts: DeploymentStatus,
  nowMs: number,
  hasCreated: boolean,
): Progress {
  const { progressDeadlineSeconds: deadline = NO_DEADLINE, paused } = deployment.spec
  const present = findCondition(deployment.status?.conditions, 'Progressing')
  if (deadline >= NO_DEADLINE) return {}
  if (paused === true) return hasReason(present, 'DeploymentPaused') ? {} : { condition: unknown('DeploymentPaused') }
  if (hasReason(present, 'DeploymentPaused')) {
    return { condition: unknown('DeploymentResumed'), requeueAfterMs: deadline * 1000 }
  }
  const name = newSet?.metadata.name ?? ''
  if (isComplete(deployment, counts)) {
    return { condition: progressing('NewReplicaSetAvailable', `ReplicaSet ${name} has all its pods available`) }
  }
  // A complete rollout whose pods are replaced later is not a rollout without progress.
  const wasComplete = hasReason(present, 'NewReplicaSetAvailable') && counts.replicas === counts.updatedReplicas
  if (hasCreated) {
    return {
      condition: progressing('NewReplicaSetCreated', `created ReplicaSet ${name}`),
      requeueAfterMs: deadline * 1000 + 1000,
    }
  }
  if (wasComplete || newSet === undefined) return {}
  if (present === undefined) {
    return {
      condition: progressing('FoundNewReplicaSet', `found ReplicaSet ${name}`),
      requeueAfterMs: deadline * 1000 + 1000,
    }
  }
  if (hasReason(present, 'NewReplicaSetAvailable') || madeProgress(deployment.status, counts)) {
    const condition = progressing('ReplicaSetUpdated', `ReplicaSet ${name} is being rolled out`)
    return { condition, requeueAfterMs: deadline * 1000 + 1000 }
  }
  if (hasReason(present, 'ProgressDeadlineExceeded')) return {}
  const dueMs = (parseTimestamp(present.lastUpdateTime) ?? nowMs) + deadline * 1000
  if (nowMs <= dueMs) return { requeueAfterMs: dueMs - nowMs + 1000 }
  const message = `ReplicaSet ${name} made no progress for ${deadline} s`
  return { condition: { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message } }
}

/** Whether every pod has the new template and is available, and no other pods are left. */
export function isComplete(deployment: Deployment, counts: DeploymentStatus = {}): boolean {
  const wanted = replicasOf(deployment)
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = counts
  const isCurrent = observedGeneration >= (deployment.metadata.generation ?? 0)
  return isCurrent && updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted
}

function madeProgress(before: DeploymentStatus = {}, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  )
}

function withReplicaFailure(
  conditions: readonly Condition[] | undefined,
  { newSet, oldSets }: Rollout,
  now: string,
): readonly Condition[] {
  const failing = [...(newSet === undefined ? [] : [newSet]), ...oldSets]
    .map((set) => findCondition(set.status?.conditions, 'ReplicaFailure'))
    .find((condition) => condition !== undefined)
  if (failing === undefined) return withoutCondition(conditions, 'ReplicaFailure')
  const { lastTransitionTime: _theirs, ...condition } = failing
  return setCondition(conditions, condition, now)
}

/** Like any condition, but `lastUpdateTime` changes with its content: the deadline counts from it. */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  now: string,
): readonly Condition[] {
  const existing = findCondition(conditions, condition.type)
  const isSame = existing?.status === condition.status && existing.reason === condition.reason
  // A step forward repeats the same content but restarts the deadline.
  const isStep = condition.reason === 'ReplicaSetUpdated'
  if (isSame && existing.message === condition.message && !isStep) return conditions ?? []
  return withCondition(conditions, { ...condition, lastUpdateTime: now }, now)
}

function hasReason(condition: Condition | undefined, reason: string): boolean {
  return condition?.reason === reason
}

/** A Progressing condition with status True. */
function progressing(reason: string, message: string): Condition {
  return { type: 'Progressing', status: 'True', reason, message }
}

function unknown(reason: 'DeploymentPaused' | 'DeploymentResumed'): Condition {
  const message = reason === 'DeploymentPaused' ? 'the Deployment is paused' : 'the Deployment is resumed'
  return { type: 'Progressing', status: 'Unknown', reason, message }
}
