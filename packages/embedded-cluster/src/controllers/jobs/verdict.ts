/** Whether a Job is finished, and otherwise which pods it should have; as pure functions. */
import { findCondition } from '../conditions.ts'
import { isTerminating } from '../kinds/meta.ts'
import { isFinished, type Pod, podCondition } from '../kinds/pods.ts'
import type { Job } from '../kinds/workloads.ts'
import { BURST } from '../pod-creation.ts'
import { parseTimestamp } from '../time.ts'
import { type Account, hasFailed, totals } from './accounting.ts'
import { completionIndex } from './job-pods.ts'

const FIRST_BACK_OFF_MS = 10_000
const LONGEST_BACK_OFF_MS = 600_000
const REASONS = ['CompletionsReached', 'BackoffLimitExceeded', 'DeadlineExceeded'] as const

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
  if (activeDeadlineSeconds === undefined || startedMs === undefined) return undefined
  if (nowMs < startedMs + activeDeadlineSeconds * 1000) return undefined
  const message = `the Job was active longer than ${activeDeadlineSeconds} s`
  return { hasSucceeded: false, reason: 'DeadlineExceeded', message }
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

/** Pods to create and delete now. */
export interface JobPlan {
  /** The index of each new pod; `undefined` for a Job without indexes. */
  readonly create: readonly (number | undefined)[]
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
  const left = isIndexed ? (completions ?? 1) - account.completedIndexes.size : (completions ?? Infinity) - succeeded
  // Once a pod of a Job without completions has succeeded, the others finish and no new one is created.
  const isEnding = completions === undefined && !isIndexed && succeeded > 0
  const wanted = isEnding ? Math.min(active.length, parallelism) : Math.min(parallelism, left)
  const isUseless = (pod: Pod) => isIndexed && account.completedIndexes.has(completionIndex(pod) ?? -1)
  const useless = active.filter(isUseless)
  const useful = active.filter((pod) => !isUseless(pod))
  if (useful.length > wanted) {
    return { create: [], remove: [...useless, ...youngestFirst(useful).slice(0, useful.length - wanted)], waitMs: 0 }
  }
  const missing = wanted - useful.length
  const waitMs = missing > 0 ? backOffLeftMs(account, pods, nowMs) : 0
  if (waitMs > 0) return { create: [], remove: useless, waitMs }
  const count = Math.min(missing, BURST)
  const create = isIndexed ? freeIndexes(completions ?? 1, count, account, useful) : Array(count).fill(undefined)
  return { create, remove: useless, waitMs: 0 }
}

/** The lowest `count` indexes that are neither completed nor active. */
function freeIndexes(completions: number, count: number, account: Account, active: readonly Pod[]): number[] {
  const taken = new Set(active.map(completionIndex))
  const free: number[] = []
  for (let index = 0; index < completions && free.length < count; index += 1) {
    if (!taken.has(index) && !account.completedIndexes.has(index)) free.push(index)
  }
  return free
}

/** Each failure doubles the delay before the next pod. */
function backOffLeftMs(account: Account, pods: readonly Pod[], nowMs: number): number {
  const failures = totals(account).failed
  const ends = pods.filter(hasFailed).map(endedAtMs)
  if (failures === 0 || ends.length === 0) return 0
  const pauseMs = Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (failures - 1))
  return Math.max(0, Math.max(...ends) + pauseMs - nowMs)
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
