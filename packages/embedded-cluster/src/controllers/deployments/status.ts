/** What a Deployment says about itself: counts, availability, and whether its rollout makes progress. */
import { findCondition, withCondition, withoutCondition } from '../conditions.ts'
import type { Condition } from '../kinds/meta.ts'
import type { Deployment, DeploymentStatus, ReplicaSet } from '../kinds/workloads.ts'
import { positive } from '../positive.ts'
import { parseTimestamp, timestamp } from '../timestamp.ts'
import { allSets, type Rollout, replicasOf, totalAvailable, totalReplicas, updateBudget } from './rollout.ts'

/** No deadline, as the largest 32-bit number. */
const NO_DEADLINE = 2 ** 31 - 1

/** A status, and when it has to be looked at again although nothing happened. */
export interface StatusOutcome {
  readonly status: DeploymentStatus
  readonly againMs: number | undefined
}

/** The status of the rollout as it is; `hasCreated` when its new ReplicaSet was made just now. */
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
  const { condition, againMs } = progress(rollout, counts, nowMs, hasCreated)
  if (condition !== undefined) conditions = setCondition(conditions, condition, now)
  return { status: { ...counts, conditions }, againMs }
}

function availability(deployment: Deployment, available: number): Condition {
  const needed = replicasOf(deployment) - updateBudget(deployment).maxUnavailable
  const type = 'Available'
  return available >= needed
    ? { type, status: 'True', reason: 'MinimumReplicasAvailable', message: `${needed} pods or more are available` }
    : {
        type,
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: `fewer than ${needed} pods are available`,
      }
}

interface Progress {
  /** Nothing when the present condition stands. */
  readonly condition?: Condition
  readonly againMs?: number
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
  if (paused === true) return isAbout(present, 'DeploymentPaused') ? {} : { condition: unknown('DeploymentPaused') }
  if (isAbout(present, 'DeploymentPaused')) {
    return { condition: unknown('DeploymentResumed'), againMs: deadline * 1000 }
  }
  const name = newSet?.metadata.name ?? ''
  if (isComplete(deployment, counts)) {
    return { condition: progressing('NewReplicaSetAvailable', `ReplicaSet ${name} has all its pods available`) }
  }
  // A finished rollout whose pods come and go later is not a rollout without progress.
  const wasComplete = isAbout(present, 'NewReplicaSetAvailable') && counts.replicas === counts.updatedReplicas
  if (hasCreated) {
    return {
      condition: progressing('NewReplicaSetCreated', `made ReplicaSet ${name}`),
      againMs: deadline * 1000 + 1000,
    }
  }
  if (wasComplete || newSet === undefined) return {}
  if (present === undefined) {
    return { condition: progressing('FoundNewReplicaSet', `found ReplicaSet ${name}`), againMs: deadline * 1000 + 1000 }
  }
  if (isAbout(present, 'NewReplicaSetAvailable') || madeProgress(deployment.status, counts)) {
    const condition = progressing('ReplicaSetUpdated', `ReplicaSet ${name} is being rolled out`)
    return { condition, againMs: deadline * 1000 + 1000 }
  }
  if (isAbout(present, 'ProgressDeadlineExceeded')) return {}
  const dueMs = (parseTimestamp(present.lastUpdateTime) ?? nowMs) + deadline * 1000
  if (nowMs <= dueMs) return { againMs: dueMs - nowMs + 1000 }
  const message = `ReplicaSet ${name} made no progress for ${deadline} s`
  return { condition: { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message } }
}

/** Whether every pod is of the new template and available, and none of another is left. */
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

/** Like any condition, but `lastUpdateTime` moves with every change of what it says: the deadline counts from it. */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  now: string,
): readonly Condition[] {
  const existing = findCondition(conditions, condition.type)
  const isSame = existing?.status === condition.status && existing.reason === condition.reason
  // A step forward says the same words again and still starts the deadline anew.
  const isStep = condition.reason === 'ReplicaSetUpdated'
  if (isSame && existing.message === condition.message && !isStep) return conditions ?? []
  return withCondition(conditions, { ...condition, lastUpdateTime: now }, now)
}

function isAbout(condition: Condition | undefined, reason: string): boolean {
  return condition?.reason === reason
}

/** A Progressing condition that says all is well. */
export function progressing(reason: string, message: string): Condition {
  return { type: 'Progressing', status: 'True', reason, message }
}

function unknown(reason: 'DeploymentPaused' | 'DeploymentResumed'): Condition {
  const message = reason === 'DeploymentPaused' ? 'the Deployment is paused' : 'the Deployment goes on'
  return { type: 'Progressing', status: 'Unknown', reason, message }
}
