/**
 * Counts the terminated pods of a Job, each exactly once, even if pods are deleted or the process crashes.
 *
 * A pod has a finalizer until it is counted. First its uid is added to `status.uncountedTerminatedPods`, then its
 * finalizer is removed, then the uid is replaced by an increased count. After a crash between any two of these the step
 * is repeated and nothing is counted twice.
 */
import type { Pod } from '../kinds/pods.ts'
import type { Job, JobStatus } from '../kinds/workloads.ts'
import { completionIndex, isTracked } from './job-pods.ts'
import { failureAction, hasFailed, hasSucceeded, indexFailures } from './pod-failures.ts'

/** The counts of a Job, including pods that are being counted. */
export interface Account {
  readonly succeeded: number
  readonly failed: number
  readonly completedIndexes: ReadonlySet<number>
  /** Indexes that are not tried again. */
  readonly failedIndexes: ReadonlySet<number>
  /** Why a failed pod fails the whole Job, if one does. */
  readonly fatalFailure: string | undefined
  /** Terminated pods that count as nothing. */
  readonly ignored: readonly string[]
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] }
}

/** The account, updated with the current pods. */
export function updateAccount(job: Job, pods: readonly Pod[]): Account {
  const status = job.status ?? {}
  const tracked = new Map(pods.filter(isTracked).map((pod) => [pod.metadata.uid, pod]))
  const completedIndexes = parseIndexes(status.completedIndexes)
  const isIndexed = job.spec.completionMode === 'Indexed'
  // Deleted pods of a suspended Job do not count as failed.
  const isSuspended = job.spec.suspend === true
  const settle = (uids: readonly string[] = []) => {
    const pending = uids.filter((uid) => tracked.has(uid))
    return { counted: uids.length - pending.length, pending }
  }
  const succeeded = settle(status.uncountedTerminatedPods?.succeeded)
  const failed = settle(status.uncountedTerminatedPods?.failed)
  const known = new Set([...succeeded.pending, ...failed.pending])
  const failedIndexes = parseIndexes(status.failedIndexes)
  for (const [index, { isFinal }] of indexFailures(job, [...tracked.values()])) {
    if (isFinal && !completedIndexes.has(index)) failedIndexes.add(index)
  }
  const ignored: string[] = []
  let fatalFailure: string | undefined
  for (const [uid, pod] of tracked) {
    const isFailed = hasFailed(job, pod) && !isSuspended
    const { action, message } = failureAction(job, pod)
    if (isFailed && action === 'FailJob') fatalFailure ??= message
    if (known.has(uid)) continue
    if (hasSucceeded(pod)) {
      const index = completionIndex(pod)
      if (isIndexed && (index === undefined || completedIndexes.has(index))) continue
      if (index !== undefined && isIndexed) completedIndexes.add(index)
      succeeded.pending.push(uid)
    } else if (isFailed && action === 'Ignore') ignored.push(uid)
    else if (isFailed) failed.pending.push(uid)
  }
  return {
    succeeded: (status.succeeded ?? 0) + succeeded.counted,
    failed: (status.failed ?? 0) + failed.counted,
    completedIndexes,
    failedIndexes,
    fatalFailure,
    ignored,
    uncounted: { succeeded: succeeded.pending, failed: failed.pending },
  }
}

/** All terminated pods, counted or not. */
export function totals({ succeeded, failed, uncounted }: Account): { succeeded: number; failed: number } {
  return { succeeded: succeeded + uncounted.succeeded.length, failed: failed + uncounted.failed.length }
}

/** The fields of the status that store the account. */
export function accountStatus(job: Job, account: Account): Partial<JobStatus> {
  const { succeeded, failed, uncounted, completedIndexes, failedIndexes } = account
  return {
    ...(succeeded === 0 ? {} : { succeeded }),
    ...(failed === 0 ? {} : { failed }),
    ...(job.spec.completionMode === 'Indexed' && completedIndexes.size > 0
      ? { completedIndexes: formatIndexes(completedIndexes) }
      : {}),
    ...(job.spec.backoffLimitPerIndex === undefined ? {} : { failedIndexes: formatIndexes(failedIndexes) }),
    uncountedTerminatedPods: {
      ...(uncounted.succeeded.length === 0 ? {} : { succeeded: uncounted.succeeded }),
      ...(uncounted.failed.length === 0 ? {} : { failed: uncounted.failed }),
    },
  }
}

/** The maximum number of indexes that are read of a status, which a user can write. */
const MAX_INDEXES = 1_000_000

/** Parses completion indexes. */
export function parseIndexes(text: string | undefined): Set<number> {
  const indexes = new Set<number>()
  for (const part of (text ?? '').split(',')) {
    const [first = '', last = first] = part.split('-')
    if (first === '') continue
    for (let index = Number(first); index <= Number(last) && indexes.size < MAX_INDEXES; index++) indexes.add(index)
  }
  return indexes
}

/** Formats completion indexes: consecutive indexes are written as a range. */
export function formatIndexes(indexes: Iterable<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b)
  const runs: [number, number][] = []
  for (const index of sorted) {
    const run = runs.at(-1)
    if (run !== undefined && run[1] === index - 1) run[1] = index
    else runs.push([index, index])
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}
