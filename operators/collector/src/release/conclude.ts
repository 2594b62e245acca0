/** Turns what a reconcile has found and done into a status, events and the time of the next check. */
import type { ReleaseKey } from '@reeve/helm'
import type { Stored } from '@reeve/kube'
import { getCondition } from '@reeve/runtime'
import type { Collector, CollectorStatus } from '../api/collector.ts'
import type { CollectorMetrics } from '../metrics.ts'
import { type Failure, noteFailure, remainingMs } from './failure.ts'
import { knownFailure, remembered, rollbackCause } from './known-failures.ts'
import type { ObservedRelease } from './observe-release.ts'
import { deriveStatus, type Findings } from './status.ts'

/** What was found and done; what is left out is as usual. */
export interface Outcome
  extends Pick<ObservedRelease, 'history' | 'workloads'>,
    Pick<Findings, 'decision' | 'desired' | 'releases'> {
  readonly release: ReleaseKey
  readonly failure?: Failure | undefined
  readonly hasActed?: boolean
  /** Releases that wait to be removed because the Collector has moved. @default none */
  readonly leftovers?: readonly ReleaseKey[]
}

/** What follows from an outcome. */
export interface Conclusion {
  readonly status: CollectorStatus
  /** A Warning when the Collector is degraded in a new way. */
  readonly events: readonly { readonly type: 'Warning'; readonly reason: string; readonly message: string }[]
  /** When to check again although nothing changes. */
  readonly requeueAfterMs: number
}

/** What a conclusion is drawn with. */
export interface ConclusionContext {
  readonly clock: { now(): number }
  readonly metrics: CollectorMetrics
  readonly checkIntervalMs: number
}

/** How soon to check what is not settled. */
export const SOON_MS = 2_000

/** How soon to check a release that was just deployed: most workloads are ready within seconds. */
const FIRST_CHECK_MS = 500

/**
 * Draws the conclusion. Equal outcomes give an equal status, so that nothing is written twice.
 *
 * @param collector with the status that the cluster has
 */
export function conclude(
  collector: Stored<Collector>,
  outcome: Outcome,
  { clock, metrics, checkIntervalMs }: ConclusionContext,
): Conclusion {
  const { decision, failure, hasActed = false, leftovers = [], workloads } = outcome
  const now = clock.now()
  const attempt = { decision, ingredients: outcome.desired?.ingredients }
  const before = knownFailure(collector.status, attempt.ingredients)
  const lastFailure = failure === undefined ? remembered(before, attempt) : noteFailure(before, failure, now)
  const rolledBack = rollbackCause(collector.status?.rolledBack, lastFailure, attempt)
  if (lastFailure !== undefined && lastFailure !== before) metrics.failures.inc({ reason: lastFailure.reason })
  const status = deriveStatus({ ...outcome, collector, leftovers, lastFailure, rolledBack }, clock)
  const isUnsettled = hasActed || decision?.action === 'note-stuck' || workloads.health === 'progressing'
  const requeueAfterMs =
    decision?.action === 'wait'
      ? decision.retryAfterMs
      : failure !== undefined && lastFailure !== undefined
        ? remainingMs(lastFailure, now)
        : isUnsettled
          ? soonMs(outcome, now)
          : leftovers.length > 0
            ? SOON_MS
            : checkIntervalMs
  return { status, events: warnings(status, collector.status), requeueAfterMs }
}

/** Half the age of the release, within limits: a release that takes long is checked less often. */
function soonMs({ history }: Outcome, now: number): number {
  const ageMs = now - Date.parse(history.at(-1)?.lastDeployed ?? '')
  return Number.isFinite(ageMs) ? Math.min(SOON_MS, Math.max(FIRST_CHECK_MS, ageMs / 2)) : SOON_MS
}

function warnings(status: CollectorStatus, before: CollectorStatus | undefined): Conclusion['events'] {
  const degraded = degradation(status)
  const known = degradation(before)
  const isNew = degraded?.reason !== known?.reason || degraded?.message !== known?.message
  if (degraded?.status !== 'True' || !isNew) return []
  return [{ type: 'Warning', reason: degraded.reason, message: degraded.message }]
}

function degradation(status: CollectorStatus | undefined) {
  // The type of the schema leaves the message open; the operator always writes one.
  return getCondition(status?.conditions as Parameters<typeof getCondition>[0], 'Degraded')
}
