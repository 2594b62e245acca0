/** Whether a Job is finished, and otherwise which pods it should have; as pure functions. */
import { findCondition } from '../conditions.ts'
import { isTerminating } from '../kinds/meta.ts'
import { isFinished, type Pod, podCondition } from '../kinds/pods.ts'
import type { Job } from '../kinds/workloads.ts'
import { BURST } from '../pod-creation.ts'
import { parseTimestamp } from '../time.ts'
import { type Account, totals } from './accounting.ts'
import { completionIndex } from './job-pods.ts'
import { hasFailed, type IndexFailures, indexFailures, waitsForTermination } from './pod-failures.ts'
import { satisfiedRule } from './success-policy.ts'

const FIRST_BACK_OFF_MS = 10_000
const LONGEST_BACK_OFF_MS = 600_000
const REASONS = [
  'CompletionsReached',
  'SuccessPolicy',
  'PodFailurePolicy',
  'BackoffLimitExceeded',
  'DeadlineExceeded',
  'MaxFailedIndexesExceeded',
  'FailedIndexes',
] as const

/** The result of a Job. */
export interface Verdict {
  readonly hasSucceeded: boolean
  readonly reason: (typeof REASONS)[number]
  readonly message: string
}

/** The result of the Job, if it has finished. */
export function verdictOn(job: Job, account: Account, pods: readonly Pod[], nowMs: number): Verdict | undefined {
  const reached = earlierVerdict(job)
  if (reached !== undefined) return reached
  if (account.fatalFailure !== undefined) {
    return { hasSucceeded: false, reason: 'PodFailurePolicy', message: account.fatalFailure }
  }
  const rule = satisfiedRule(job, account.completedIndexes)
  if (rule !== undefined) {
    return { hasSucceeded: true, reason: 'SuccessPolicy', message: `rule ${rule} of successPolicy is satisfied` }
  }
  if (isComplete(job, account, pods)) {
    return { hasSucceeded: true, reason: 'CompletionsReached', message: 'all completions succeeded' }
  }
  const { backoffLimit = 6, activeDeadlineSeconds } = job.spec
  const isBeyondLimit =
    totals(account).failed > backoffLimit || (restartsInPlace(job) && restarts(pods) >= Math.max(1, backoffLimit))
  if (isBeyondLimit) {
    const message = `pods failed more often than the limit of ${backoffLimit}`
    return { hasSucceeded: false, reason: 'BackoffLimitExceeded', message }
  }
  const startedMs = parseTimestamp(job.status?.startTime)
  if (
    activeDeadlineSeconds !== undefined &&
    startedMs !== undefined &&
    nowMs >= startedMs + activeDeadlineSeconds * 1000
  ) {
    const message = `the Job was active longer than ${activeDeadlineSeconds} s`
    return { hasSucceeded: false, reason: 'DeadlineExceeded', message }
  }
  return verdictOnIndexes(job, account)
}

function verdictOnIndexes({ spec }: Job, account: Account): Verdict | undefined {
  const { completedIndexes, failedIndexes } = account
  const { maxFailedIndexes = Number.POSITIVE_INFINITY, completions = 1 } = spec
  if (failedIndexes.size > maxFailedIndexes) {
    const message = `${failedIndexes.size} indexes failed, more than the limit of ${maxFailedIndexes}`
    return { hasSucceeded: false, reason: 'MaxFailedIndexesExceeded', message }
  }
  if (failedIndexes.size === 0 || failedIndexes.size + completedIndexes.size < completions) return undefined
  return { hasSucceeded: false, reason: 'FailedIndexes', message: `${failedIndexes.size} indexes failed` }
}

/** A verdict is final, even if stopping the pods changes its cause. */
function earlierVerdict({ status }: Job): Verdict | undefined {
  const success = findCondition(status?.conditions, 'SuccessCriteriaMet')
  const condition = success ?? findCondition(status?.conditions, 'FailureTarget')
  const reason = REASONS.find((known) => known === condition?.reason)
  if (condition?.status !== 'True' || reason === undefined) return undefined
  return { hasSucceeded: success !== undefined, reason, message: condition.message ?? '' }
}

function isComplete({ spec }: Job, account: Account, pods: readonly Pod[]): boolean {
  const { completions } = spec
  if (spec.completionMode === 'Indexed') return account.completedIndexes.size >= (completions ?? 1)
  const { succeeded } = totals(account)
  if (completions !== undefined) return succeeded >= completions
  // A Job without completions is complete when one pod succeeded and no other is active.
  return succeeded > 0 && activePods(pods).length === 0
}

function restartsInPlace({ spec }: Job): boolean {
  return spec.template.spec.restartPolicy === 'OnFailure'
}

function restarts(pods: readonly Pod[]): number {
  const counts = activePods(pods).flatMap((pod) =>
    [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].map(
      ({ restartCount }) => restartCount,
    ),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Active pods. */
export function activePods(pods: readonly Pod[]): Pod[] {
  return pods.filter((pod) => !isFinished(pod) && !isTerminating(pod))
}

/** A pod to create. */
export interface NewPod {
  /** `undefined` for a Job without indexes. */
  readonly index: number | undefined
  /** How often the index has failed. */
  readonly failures: number
}

/** Pods to create and delete now. */
export interface JobPlan {
  readonly create: readonly NewPod[]
  readonly remove: readonly Pod[]
  /** When a replacement for a failed pod is due, if later. */
  readonly waitMs: number
}

/** The changes that bring the active pods to the desired number. */
export function planFor(job: Job, account: Account, pods: readonly Pod[], nowMs: number): JobPlan {
  const { parallelism = 1, completions } = job.spec
  const isIndexed = job.spec.completionMode === 'Indexed'
  const active = activePods(pods)
  const { succeeded } = totals(account)
  const settled = new Set([...account.completedIndexes, ...account.failedIndexes])
  const left = isIndexed ? (completions ?? 1) - settled.size : (completions ?? Infinity) - succeeded
  // Once a pod of a Job without completions has succeeded, the others finish and no new one is created.
  const isEnding = completions === undefined && !isIndexed && succeeded > 0
  const wanted = isEnding ? Math.min(active.length, parallelism) : Math.min(parallelism, left)
  const isUseless = (pod: Pod) => isIndexed && settled.has(completionIndex(pod) ?? -1)
  const useless = active.filter(isUseless)
  const useful = active.filter((pod) => !isUseless(pod))
  if (useful.length > wanted) {
    return { create: [], remove: [...useless, ...youngestFirst(useful).slice(0, useful.length - wanted)], waitMs: 0 }
  }
  const stopping = waitsForTermination(job) ? pods.filter((pod) => isTerminating(pod) && !isFinished(pod)) : []
  const missing = Math.max(0, wanted - useful.length - stopping.length)
  const taken = [...useful, ...stopping]
  if (job.spec.backoffLimitPerIndex !== undefined) {
    return { remove: useless, ...planIndexes(job, settled, taken, missing, indexFailures(job, pods), nowMs) }
  }
  const waitMs = missing > 0 ? backOffLeftMs(job, account, pods, nowMs) : 0
  if (waitMs > 0) return { create: [], remove: useless, waitMs }
  const count = Math.min(missing, BURST)
  const indexes = isIndexed ? freeIndexes(completions ?? 1, count, settled, taken) : Array(count).fill(undefined)
  return { create: indexes.map((index) => ({ index, failures: 0 })), remove: useless, waitMs: 0 }
}

/** Each index waits for its own failures only. */
function planIndexes(
  job: Job,
  settled: ReadonlySet<number>,
  taken: readonly Pod[],
  missing: number,
  failures: ReadonlyMap<number, IndexFailures>,
  nowMs: number,
): Pick<JobPlan, 'create' | 'waitMs'> {
  const waits = new Map(
    [...failures].map(([index, { count, pod }]) => [index, backOffMs(count) + endedAtMs(pod) - nowMs] as const),
  )
  const isWaiting = (index: number) => (waits.get(index) ?? 0) > 0
  const count = Math.min(missing, BURST)
  const indexes = freeIndexes(job.spec.completions ?? 1, count, settled, taken, isWaiting)
  const create = indexes.map((index) => ({ index, failures: failures.get(index)?.count ?? 0 }))
  const takenIndexes = new Set(taken.map(completionIndex))
  const left = [...waits]
    .filter(([index, waitMs]) => waitMs > 0 && !settled.has(index) && !takenIndexes.has(index))
    .map(([, waitMs]) => waitMs)
  return { create, waitMs: missing > create.length && left.length > 0 ? Math.min(...left) : 0 }
}

/** The lowest `count` indexes that are neither settled nor taken, and do not wait. */
function freeIndexes(
  completions: number,
  count: number,
  settled: ReadonlySet<number>,
  taken: readonly Pod[],
  isWaiting: (index: number) => boolean = () => false,
): number[] {
  const takenIndexes = new Set(taken.map(completionIndex))
  const free: number[] = []
  for (let index = 0; index < completions && free.length < count; index += 1) {
    if (!takenIndexes.has(index) && !settled.has(index) && !isWaiting(index)) free.push(index)
  }
  return free
}

/** Each failure doubles the delay before the next pod. */
function backOffLeftMs(job: Job, account: Account, pods: readonly Pod[], nowMs: number): number {
  const failures = totals(account).failed
  const ends = pods.filter((pod) => hasFailed(job, pod)).map(endedAtMs)
  if (failures === 0 || ends.length === 0) return 0
  return Math.max(0, Math.max(...ends) + backOffMs(failures) - nowMs)
}

function backOffMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (failures - 1))
}

/**
 * Pods that must not be released yet: the last failure of an index that is tried again. Only they know how often it
 * failed, until its next pod does.
 */
export function awaitReplacement(job: Job, account: Account, pods: readonly Pod[]): ReadonlySet<string> {
  const active = new Set(activePods(pods).map(completionIndex))
  const settled = new Set([...account.completedIndexes, ...account.failedIndexes])
  const waiting = [...indexFailures(job, pods)].filter(([index]) => !settled.has(index) && !active.has(index))
  return new Set(waiting.map(([, { pod }]) => pod.metadata.uid))
}

function endedAtMs(pod: Pod): number {
  const ends = (pod.status?.containerStatuses ?? []).map(
    ({ state }) => parseTimestamp(state.terminated?.finishedAt) ?? 0,
  )
  const unready = parseTimestamp(podCondition(pod, 'Ready')?.lastTransitionTime) ?? 0
  return Math.max(unready, ...ends)
}

function youngestFirst(pods: readonly Pod[]): Pod[] {
  return [...pods].sort((a, b) => (a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1))
}
