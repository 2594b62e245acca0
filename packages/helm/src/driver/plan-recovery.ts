/** Decides how to free a release that a crash left in the middle of an operation. */
import { isPending, type ReleaseStatus } from '../release/release.ts'

/** What to do about a release. */
export type RecoveryPlan =
  /** Nothing is pending. */
  | { readonly action: 'none' }
  /** The process that made it may still be running: try again after `retryAfterMs`. */
  | { readonly action: 'wait'; readonly retryAfterMs: number }
  /** Nothing was ever completed, or it was being removed: remove the traces. Install again if it is to be there. */
  | { readonly action: 'uninstall' }
  /** Return to the newest revision that was complete, or as complete as any. */
  | { readonly action: 'rollback'; readonly revision: number }

/** What has to be known of each revision; a `Release` has it. */
export interface RecoverableRevision {
  readonly revision: number
  readonly status: ReleaseStatus
  /** RFC 3339. Absent: taken for long ago. */
  readonly lastDeployed?: string
}

/** The input of a plan, besides the history. */
export interface RecoveryConditions {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** How long a pending record is not touched, because its author may still be running. */
  readonly staleAfterMs: number
}

/**
 * How to recover a release, from its history (oldest first).
 *
 * Helm rejects every upgrade of a release whose newest revision is pending. It does accept a rollback and an uninstall:
 *
 * - An interrupted upgrade or rollback returns to the revision that is `deployed`. Without one, to the newest that once
 *   was, or else that failed: a release that was never deployed is not a reason to delete its objects.
 * - An interrupted first install has nothing to go back to and is uninstalled.
 * - An interrupted uninstall is finished. That is safe even if its author is still running.
 *
 * @example
 * const plan = planRecovery(await readReleases(client, key), { now: Date.now(), staleAfterMs: 300_000 })
 */
export function planRecovery(history: readonly RecoverableRevision[], conditions: RecoveryConditions): RecoveryPlan {
  const newest = history.at(-1)
  if (newest === undefined) return { action: 'none' }
  if (newest.status === 'uninstalling') return { action: 'uninstall' }
  if (!isPending(newest.status)) return { action: 'none' }
  const waitMs = untilStale(newest, conditions)
  if (waitMs > 0) return { action: 'wait', retryAfterMs: waitMs }
  if (newest.status === 'pending-install') return { action: 'uninstall' }
  const complete = (['deployed', 'superseded', 'failed'] as const)
    .map((status) => history.findLast((release) => release.status === status))
    .find((release) => release !== undefined)
  return complete === undefined ? { action: 'uninstall' } : { action: 'rollback', revision: complete.revision }
}

function untilStale(release: RecoverableRevision, { now, staleAfterMs }: RecoveryConditions): number {
  const since = release.lastDeployed === undefined ? Number.NaN : Date.parse(release.lastDeployed)
  if (Number.isNaN(since)) return 0
  const waitMs = since + staleAfterMs - now
  // A record from a future that no difference between clocks explains would otherwise be young for years.
  return waitMs > 2 * staleAfterMs ? 0 : Math.max(0, waitMs)
}
