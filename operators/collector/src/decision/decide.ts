/** Decides what to do about a release from its state, never from the event that caused the reconcile. */
import { planRecovery } from '@reeve/helm'
import type { LastFailure } from '../api/collector.ts'
import {
  hasOwner,
  type Ingredients,
  isForeign,
  isMadeFrom,
  isTriedWith,
  type Revision,
  rollbackTarget,
} from './revision-marks.ts'

/** The state of the workloads of a release. `stuck`: they will not become ready by waiting. */
export type Health = 'ready' | 'progressing' | 'stuck'

/** The input of a decision. */
export interface Observation {
  /** Every revision of the release, oldest first. */
  readonly history: readonly Revision[]
  /** The desired chart and values. */
  readonly desired: Ingredients
  readonly health: Health
  /**
   * Whether objects of the release are missing or were changed. `persistent`: an upgrade because of exactly this has not
   * restored them.
   */
  readonly drift: 'none' | 'found' | 'persistent'
  /** The older Collector that declares the same release, if there is one. */
  readonly claimedBy?: string
  readonly lastFailure: LastFailure | undefined
  readonly policy: {
    readonly isSuspended: boolean
    readonly rollsBack: boolean
    readonly heals: boolean
  }
  /** Milliseconds since the epoch. */
  readonly now: number
  /** How long a pending revision is not touched: the helm process that created it may still be running. */
  readonly staleAfterMs: number
}

/** What to do. */
export type Decision =
  | { readonly action: 'install' }
  /** `why` is for people: the event and the log. */
  | { readonly action: 'upgrade'; readonly why: 'changed' | 'foreign' | 'failed' | 'drifted' }
  | { readonly action: 'rollback'; readonly revision: number }
  /** Recover a release that a crash left in the middle of an operation. */
  | { readonly action: 'recover' }
  /** The workloads of the newest revision do not become ready: recorded in the status before anything is done about it. */
  | { readonly action: 'note-stuck' }
  /**
   * `busy`: another operation is in progress. `turn`: Helm works on other releases of the namespace. `backoff`: the same attempt
   * has just failed.
   */
  | { readonly action: 'wait'; readonly why: 'busy' | 'turn' | 'backoff'; readonly retryAfterMs: number }
  | { readonly action: 'nothing'; readonly state: 'current' | 'drifted' | 'rolled-back' | 'suspended' }
  /** The release has another owner: an older Collector (`by`), or the operator did not create it. */
  | { readonly action: 'blocked'; readonly by: string | undefined }

/** First delay after a failure; it doubles with every further one. */
export const RETRY_BASE_MS = 5_000

/** Longest delay after a failure. What fails ten times is usually waiting for a person. */
const RETRY_MAX_MS = 600_000

/** How often an upgrade is tried that fails for a reason that may pass, before it is rolled back. */
export const MAX_ATTEMPTS_BEFORE_ROLLBACK = 3

/** Reasons that may pass by themselves, such as an API server that was restarted in the middle of an upgrade. */
const PASSING: ReadonlySet<string> = new Set([
  'HelmFailed',
  'HelmTimeout',
  'HelmBusy',
  'HelmOperationInProgress',
  'HelmClusterUnreachable',
])

/**
 * The next step towards the desired release. Pure.
 *
 * *Guarantees*: once the release is what it should be, or cannot be, the decision is `nothing` or `wait` until something
 * changes; a failure that is known is not repeated before its delay is over; a release that no Collector made is left
 * alone.
 *
 * @example
 * decide({ history: [], desired, health: 'ready', drift: 'none', … }) // { action: 'install' }
 */
export function decide(observation: Observation): Decision {
  const { history, policy, claimedBy, now, staleAfterMs } = observation
  const newest = history.at(-1)
  if (claimedBy !== undefined) return { action: 'blocked', by: claimedBy }
  if (newest !== undefined && !hasOwner(history)) return { action: 'blocked', by: undefined }
  if (policy.isSuspended) return { action: 'nothing', state: 'suspended' }
  if (newest === undefined) return unlessJustFailed(observation, { action: 'install' })
  const recovery = planRecovery(history, { now, staleAfterMs })
  if (recovery.action === 'wait') return { action: 'wait', why: 'busy', retryAfterMs: recovery.retryAfterMs }
  // An uninstall that kept its history leaves a record that neither install nor upgrade accepts.
  if (recovery.action !== 'none' || newest.status === 'uninstalled') return { action: 'recover' }
  return newest.status === 'failed' ? afterFailure(observation, newest) : afterSuccess(observation, newest)
}

/** How long the same attempt has to wait after it failed; 0 when it may be made. */
export function backoffMs(lastFailure: LastFailure | undefined, desired: Ingredients, now: number): number {
  if (lastFailure === undefined || !isTriedWith(lastFailure, desired)) return 0
  const delay = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(lastFailure.attempts - 1, 20))
  const waitMs = Date.parse(lastFailure.time) + delay - now
  // Without this, a time far in the future would block all attempts.
  return waitMs > 2 * RETRY_MAX_MS ? 0 : Math.max(0, waitMs)
}

function afterSuccess(observation: Observation, newest: Revision): Decision {
  const { history, desired, health, drift, policy } = observation
  if (isMadeFrom(newest, desired, history)) {
    if (health === 'stuck' && policy.rollsBack && lastGood(history, desired, newest) !== undefined) {
      return isKnownFailure(observation) ? rollBack(observation, newest) : { action: 'note-stuck' }
    }
    if (drift === 'found' && policy.heals) {
      return unlessJustFailed(observation, { action: 'upgrade', why: 'drifted' })
    }
    return { action: 'nothing', state: drift === 'none' ? 'current' : 'drifted' }
  }
  if (policy.rollsBack && rollbackTarget(newest) !== undefined && hasFailedBefore(observation)) {
    return { action: 'nothing', state: 'rolled-back' }
  }
  return unlessJustFailed(observation, { action: 'upgrade', why: isForeign(newest, history) ? 'foreign' : 'changed' })
}

function afterFailure(observation: Observation, newest: Revision): Decision {
  const { history, desired, policy } = observation
  // A failure that is not in the status was an interruption: the operator was stopped before it could report.
  const isFinal = isMadeFrom(newest, desired, history) && isFinalFailure(observation)
  if (isFinal && policy.rollsBack && lastGood(history, desired, newest) !== undefined) {
    return rollBack(observation, newest)
  }
  return unlessJustFailed(observation, { action: 'upgrade', why: 'failed' })
}

function rollBack({ history, desired }: Observation, newest: Revision): Decision {
  const good = lastGood(history, desired, newest)
  return good === undefined ? { action: 'nothing', state: 'current' } : { action: 'rollback', revision: good.revision }
}

/** The newest revision that was deployed successfully from another chart or values than those that fail. */
function lastGood(history: readonly Revision[], desired: Ingredients, newest: Revision): Revision | undefined {
  const candidates = history.filter(
    (revision) => revision !== newest && !isForeign(revision, history) && !isMadeFrom(revision, desired, history),
  )
  return (
    candidates.findLast(({ status }) => status === 'deployed') ??
    candidates.findLast(({ status }) => status === 'superseded')
  )
}

function hasFailedBefore(observation: Observation): boolean {
  const { history, desired } = observation
  if (isKnownFailure(observation)) return isFinalFailure(observation)
  return history.some((revision) => revision.status === 'failed' && isMadeFrom(revision, desired, history))
}

/** Whether another attempt is pointless: someone has to change something, or it was tried often enough. */
function isFinalFailure(observation: Observation): boolean {
  const { lastFailure } = observation
  if (lastFailure === undefined || !isKnownFailure(observation)) return false
  return !PASSING.has(lastFailure.reason) || lastFailure.attempts >= MAX_ATTEMPTS_BEFORE_ROLLBACK
}

function isKnownFailure({ lastFailure, desired }: Observation): boolean {
  return lastFailure !== undefined && isTriedWith(lastFailure, desired)
}

function unlessJustFailed({ lastFailure, desired, now }: Observation, decision: Decision): Decision {
  const retryAfterMs = backoffMs(lastFailure, desired, now)
  return retryAfterMs > 0 ? { action: 'wait', why: 'backoff', retryAfterMs } : decision
}
