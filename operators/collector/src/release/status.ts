/** The status of a Collector: phase, release and conditions. */
import type { ReleaseKey } from '@reeve/helm'
import { type Condition, setCondition } from '@reeve/runtime'
import type { ConditionState } from '@reeve/runtime/status'
import type { Collector, CollectorStatus, LastFailure, Phase } from '../api/collector.ts'
import type { Decision } from '../decision/decide.ts'
import { ingredientsOf, isForeign } from '../decision/revision-marks.ts'
import { formatRelease } from '../release-key.ts'
import { isActive } from './act.ts'
import type { DesiredRelease } from './desired-release.ts'
import { enumerate } from './enumerate.ts'
import { describeDrift } from './failure.ts'
import { NOTHING_TO_REPORT, type ReleaseReport } from './inspect-release.ts'
import type { RecordedRelease } from './release-records.ts'

/** What a status is derived from. */
export interface Findings {
  readonly collector: Collector
  readonly release: ReleaseKey
  /** Every revision, oldest first, after what was done. */
  readonly history: readonly RecordedRelease[]
  /** What is about to be done to the release, or is being done. */
  readonly operation?: Operation
  readonly workloads: ReleaseReport
  /** Absent when no decision was possible. */
  readonly decision?: Decision
  readonly desired?: DesiredRelease
  readonly lastFailure: LastFailure | undefined
  /** Why the release was rolled back. */
  readonly rolledBack?: LastFailure | undefined
  /** Releases that wait to be removed because the Collector has moved. */
  readonly leftovers: readonly ReleaseKey[]
  /** Every release that the Collector has made or is about to make. @default none */
  readonly releases?: readonly ReleaseKey[]
}

/** What is being done to a release. */
export type Operation = keyof typeof OPERATIONS

const OPERATIONS = {
  install: { reason: 'Installing', words: 'installing' },
  upgrade: { reason: 'Upgrading', words: 'upgrading' },
  rollback: { reason: 'RollingBack', words: 'rolling back' },
  recover: { reason: 'Recovering', words: 'recovering' },
  uninstall: { reason: 'Uninstalling', words: 'uninstalling' },
} as const

interface Aspect {
  readonly isTrue: boolean
  readonly reason: string
  readonly message: string
}

/**
 * Derives the status to report. Unchanged findings give an equal status, so that nothing is written.
 *
 * @example
 * const status = deriveStatus(findings, clock)
 */
export function deriveStatus(found: Findings, clock: { now(): number }): CollectorStatus {
  const findings = ownFindings(found)
  const { collector, release, history, lastFailure, rolledBack } = findings
  const deployed = history.findLast(({ status }) => status === 'deployed')
  const available = availability(findings, deployed)
  const degraded = degradation(findings)
  const progressing = progress(findings)
  const observedGeneration = collector.metadata.generation
  const generation = observedGeneration === undefined ? {} : { observedGeneration }
  // The type of the schema leaves the message open; the operator always writes one.
  let conditions = collector.status?.conditions as readonly Condition[] | undefined
  const phase = phaseOf(findings, available, progressing, degraded)
  const hindrance = [degraded, progressing].find(({ isTrue }) => isTrue) ?? available
  const isReady = available.isTrue && !progressing.isTrue && !degraded.isTrue
  for (const [type, { isTrue, reason, message }] of Object.entries({
    Ready: { isTrue: isReady, reason: phase, message: hindrance.message },
    Available: available,
    Progressing: progressing,
    Degraded: degraded,
  })) {
    const state: ConditionState = { type, status: isTrue ? 'True' : 'False', reason, message, ...generation }
    conditions = setCondition(conditions, state, clock)
  }
  return {
    phase,
    ...generation,
    releaseName: release.name,
    namespace: release.namespace,
    releases: (findings.releases ?? []).map(({ namespace, name }) => ({ namespace, name })),
    ...(deployed && described(deployed, history)),
    ...(lastFailure && { lastFailure }),
    ...(rolledBack && { rolledBack }),
    conditions: [...(conditions ?? [])],
  }
}

/**
 * The status while Helm works on a release, which may take minutes: what is being done, and on which release. It is written
 * before Helm starts, so that a release is found again after a crash.
 *
 * @example
 * reporter.replace(announcedStatus({ ...plan, collector, operation: 'install' }, clock))
 */
export function announcedStatus(
  found: Omit<Findings, 'lastFailure' | 'rolledBack' | 'leftovers' | 'releases'> & { readonly operation: Operation },
  clock: { now(): number },
): CollectorStatus {
  const { lastFailure, rolledBack, releases = [] } = found.collector.status ?? {}
  const isKnown = releases.some((known) => formatRelease(known) === formatRelease(found.release))
  const recorded = isKnown ? releases : [...releases, found.release]
  return deriveStatus({ ...found, lastFailure, rolledBack, leftovers: [], releases: recorded }, clock)
}

/** A release of another owner is not part of the status, regardless of its state. */
function ownFindings(findings: Findings): Findings {
  return findings.decision?.action === 'blocked' ? { ...findings, history: [], workloads: NOTHING_TO_REPORT } : findings
}

function described(deployed: RecordedRelease, history: readonly RecordedRelease[]): Partial<CollectorStatus> {
  const { revision, chart } = deployed
  const digests = isForeign(deployed, history) ? undefined : ingredientsOf(deployed)
  return { revision, chart: `${chart.name}-${chart.version}`, chartVersion: chart.version, ...digests }
}

function availability(
  { decision, release, workloads, lastFailure }: Findings,
  deployed: RecordedRelease | undefined,
): Aspect {
  if (deployed === undefined) {
    const name = formatRelease(release)
    if (lastFailure?.reason === 'HelmReleaseRecord') {
      return { isTrue: false, reason: 'Unknown', message: `the records of release ${name} cannot be read` }
    }
    const what = decision?.action === 'blocked' ? 'has another owner' : 'is not installed'
    return { isTrue: false, reason: 'NotInstalled', message: `release ${name} ${what}` }
  }
  const { notes, missing } = workloads
  if (missing.length > 0) return { isTrue: false, reason: 'ObjectsMissing', message: `missing: ${enumerate(missing)}` }
  if (notes.length > 0) return { isTrue: false, reason: 'WorkloadsNotReady', message: enumerate(notes, '; ') }
  return { isTrue: true, reason: 'ReleaseAvailable', message: `revision ${deployed.revision} is ready` }
}

function progress(findings: Findings): Aspect {
  const { collector, release, operation, decision, workloads, leftovers, desired, lastFailure } = findings
  const { health, notes } = workloads
  if (operation !== undefined) {
    const { reason, words } = OPERATIONS[operation]
    return { isTrue: true, reason, message: `${words} ${formatRelease(release)}` }
  }
  if (collector.metadata.deletionTimestamp !== undefined) {
    const attempts = lastFailure === undefined ? '' : `; attempt ${lastFailure.attempts} failed`
    return { isTrue: true, reason: 'Uninstalling', message: `uninstalling ${formatRelease(release)}${attempts}` }
  }
  if (decision?.action === 'wait') {
    if (decision.why === 'turn') {
      const message = `other releases in ${release.namespace} come first`
      return { isTrue: true, reason: 'WaitingForTurn', message }
    }
    return decision.why === 'busy'
      ? { isTrue: true, reason: 'OperationInProgress', message: 'another operation on the release is in progress' }
      : { isTrue: false, reason: 'WaitingToRetry', message: `attempt ${lastFailure?.attempts ?? 1} failed` }
  }
  // Another step follows, such as an upgrade after a recovery: nothing is settled yet.
  if (decision !== undefined && isActive(decision)) {
    return lastFailure === undefined
      ? { isTrue: true, reason: 'ReleaseOutdated', message: `next step: ${decision.action}` }
      : { isTrue: false, reason: 'WaitingToRetry', message: `attempt ${lastFailure.attempts} failed` }
  }
  if (health === 'progressing') return { isTrue: true, reason: 'WaitingForWorkloads', message: enumerate(notes, '; ') }
  if (leftovers.length > 0) {
    return { isTrue: true, reason: 'Moving', message: `to be removed: ${enumerate(leftovers.map(formatRelease))}` }
  }
  const { sourceFailure } = desired?.chart ?? {}
  return sourceFailure === undefined
    ? { isTrue: false, reason: 'Settled', message: 'nothing is being changed' }
    : { isTrue: false, reason: 'ChartFromCache', message: `using the cached chart: ${sourceFailure.message}` }
}

function degradation({ decision, history, release, lastFailure, rolledBack, workloads }: Findings): Aspect {
  if (decision?.action === 'blocked') {
    return decision.by === undefined
      ? {
          isTrue: true,
          reason: 'ReleaseNotOwned',
          message: `release ${formatRelease(release)} was not created by the operator: uninstall it, or change spec.tenant.instance`,
        }
      : {
          isTrue: true,
          reason: 'ReleaseClaimed',
          message: `release ${formatRelease(release)} belongs to the older Collector ${decision.by}: change spec.tenant.instance`,
        }
  }
  if (decision?.action === 'nothing' && decision.state === 'rolled-back') {
    const cause = rolledBack?.message ?? 'the same chart and values have failed before; see helm history'
    return {
      isTrue: true,
      reason: 'RolledBack',
      message: `rolled back, now at revision ${history.at(-1)?.revision}: ${cause}`,
    }
  }
  if (lastFailure !== undefined) return { isTrue: true, reason: lastFailure.reason, message: lastFailure.message }
  if (workloads.health === 'stuck') {
    return { isTrue: true, reason: 'WorkloadsStuck', message: enumerate(workloads.notes, '; ') }
  }
  const drift = describeDrift(workloads)
  if (drift !== undefined) {
    return { isTrue: true, reason: 'Drifted', message: `${drift}; set spec.drift to Heal to restore it` }
  }
  return { isTrue: false, reason: 'AsExpected', message: '' }
}

function phaseOf({ collector }: Findings, available: Aspect, progressing: Aspect, degraded: Aspect): Phase {
  if (collector.metadata.deletionTimestamp !== undefined) return 'Deleting'
  if (collector.spec.suspend) return 'Suspended'
  if (degraded.isTrue) return 'Degraded'
  return available.isTrue && !progressing.isTrue ? 'Available' : 'Progressing'
}
