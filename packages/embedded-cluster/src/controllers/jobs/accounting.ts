/**
 * Counts the pods of a Job that have ended, each exactly once, whatever happens to the pods or to us meanwhile.
 *
 * A pod carries a finalizer until it is counted. First its uid goes into `status.uncountedTerminatedPods`; then its
 * finalizer is removed; then the uid is exchanged for a higher count. A crash between any two of these repeats the
 * step and counts nothing twice.
 */
import { isTerminating } from '../kinds/meta.ts'
import type { Pod } from '../kinds/pods.ts'
import type { Job, JobStatus } from '../kinds/workloads.ts'
import { formatIndexes, parseIndexes } from './indexes.ts'
import { completionIndex, isTracked } from './job-pods.ts'

/** The counts of a Job, with what is on its way into them. */
export interface Account {
  readonly succeeded: number
  readonly failed: number
  readonly completedIndexes: ReadonlySet<number>
  readonly uncounted: { readonly succeeded: readonly string[]; readonly failed: readonly string[] }
}

/** A pod that is being deleted counts as failed: its Job does not wait for it. */
export function hasFailed(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || (isTerminating(pod) && !hasSucceeded(pod))
}

/** Whether the pod did what it was made for. */
export function hasSucceeded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded'
}

/** The account after looking at the pods once more. */
export function takeAccount(job: Job, pods: readonly Pod[]): Account {
  const status = job.status ?? {}
  const tracked = new Map(pods.filter(isTracked).map((pod) => [pod.metadata.uid, pod]))
  const completedIndexes = parseIndexes(status.completedIndexes)
  const isIndexed = job.spec.completionMode === 'Indexed'
  // The pods of a Job that is suspended are deleted for no fault of theirs.
  const isSuspended = job.spec.suspend === true
  const settle = (uids: readonly string[] = []) => {
    const pending = uids.filter((uid) => tracked.has(uid))
    return { counted: uids.length - pending.length, pending }
  }
  const succeeded = settle(status.uncountedTerminatedPods?.succeeded)
  const failed = settle(status.uncountedTerminatedPods?.failed)
  const known = new Set([...succeeded.pending, ...failed.pending])
  for (const [uid, pod] of tracked) {
    if (known.has(uid)) continue
    if (hasSucceeded(pod)) {
      const index = completionIndex(pod)
      if (isIndexed && (index === undefined || completedIndexes.has(index))) continue
      if (index !== undefined && isIndexed) completedIndexes.add(index)
      succeeded.pending.push(uid)
    } else if (hasFailed(pod) && !isSuspended) failed.pending.push(uid)
  }
  return {
    succeeded: (status.succeeded ?? 0) + succeeded.counted,
    failed: (status.failed ?? 0) + failed.counted,
    completedIndexes,
    uncounted: { succeeded: succeeded.pending, failed: failed.pending },
  }
}

/** All pods that have ended, counted or not. */
export function totals({ succeeded, failed, uncounted }: Account): { succeeded: number; failed: number } {
  return { succeeded: succeeded + uncounted.succeeded.length, failed: failed + uncounted.failed.length }
}

/** The part of the status that keeps the account. */
export function accountStatus(job: Job, account: Account): Partial<JobStatus> {
  const { succeeded, failed, uncounted, completedIndexes } = account
  return {
    ...(succeeded === 0 ? {} : { succeeded }),
    ...(failed === 0 ? {} : { failed }),
    ...(job.spec.completionMode === 'Indexed' && completedIndexes.size > 0
      ? { completedIndexes: formatIndexes(completedIndexes) }
      : {}),
    uncountedTerminatedPods: {
      ...(uncounted.succeeded.length === 0 ? {} : { succeeded: uncounted.succeeded }),
      ...(uncounted.failed.length === 0 ? {} : { failed: uncounted.failed }),
    },
  }
}
