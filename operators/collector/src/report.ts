/** The status of a Collector as a whole, from what its components found and did. */
import type { ReleaseKey } from '@reeve/helm'
import type { ReconcileReport, ReconcileSummary } from '@reeve/runtime'
import type { Collector } from './api/collector.ts'
import type { CollectorComponent } from './components/collector-component.ts'
import { leftovers } from './components/leftovers.ts'
import { type Plan, plan } from './components/plan.ts'
import { type ReleaseResult, release } from './components/release.ts'
import { tenantNamespace } from './components/tenant-namespace.ts'
import type { CollectorDependencies } from './release/collector-context.ts'
import { conclude } from './release/conclude.ts'
import { enumerate } from './release/enumerate.ts'
import { type Failure, failureOf } from './release/failure.ts'
import { isRecorded, recordedReleases } from './release/observe-release.ts'
import { formatRelease } from './release-key.ts'

type Outcomes = ReconcileSummary<Collector>['outcomes']

/** Writes the status at the end of a reconcile; a deletion has reported itself. */
export function collectorReport(
  dependencies: Pick<CollectorDependencies, 'metrics' | 'checkIntervalMs'>,
): (summary: ReconcileSummary<Collector>) => ReconcileReport<Collector> {
  return (summary) => {
    const { outcomes, before, clock, isDeleting } = summary
    if (isDeleting) return {}
    const found = resultOf(outcomes)
    // An error of the API server: the status is not changed, and the reconcile is retried.
    if (found === undefined) return { keepsStatus: true }
    const others = factsIn(outcomes, leftovers) ?? { pending: [], recorded: othersOf(before, found.release) }
    const isCurrent = isToRecord(before, found)
    const releases = [...others.recorded, ...(isCurrent ? [found.release] : [])]
    const failure = found.failure ?? stuck(found) ?? others.failure
    const outcome = { ...found, failure, releases, leftovers: others.pending }
    return { ...conclude(before, outcome, { clock, ...dependencies }), isHandled: isHandled(outcomes) }
  }
}

/** The outcome of the release; undefined when the API server could not be reached. */
function resultOf(outcomes: Outcomes): ReleaseResult | undefined {
  const result = factsIn(outcomes, release)
  if (result !== undefined) return result
  const planned = factsIn(outcomes, plan)
  const failure = namespaceFailure(outcomes)
  if (planned === undefined || failure === undefined) return undefined
  return { ...planned, failure: failureOf(failure, planned.desired?.ingredients), hasActed: false }
}

/** A namespace that cannot be created is reported and retried like a release that cannot be installed. */
function namespaceFailure(outcomes: Outcomes): Error | undefined {
  return outcomes.find(({ name, stage }) => name === tenantNamespace.name && stage === 'apply')?.failure
}

function isHandled(outcomes: Outcomes): boolean {
  return namespaceFailure(outcomes) !== undefined
}

function stuck({ decision, workloads, desired }: Plan): Failure | undefined {
  if (decision?.action !== 'note-stuck') return undefined
  const message = enumerate(workloads.notes, '; ')
  return { reason: 'WorkloadsStuck', message, ...(desired && { tried: desired.ingredients }) }
}

/** Whether the release may exist and belong to the Collector; while that is not known, what was known before counts. */
function isToRecord(before: Collector, { release: key, records, isOwned }: ReleaseResult): boolean {
  return isOwned || (records !== 'read' && isRecorded(before, key))
}

function othersOf(collector: Collector, current: ReleaseKey): readonly ReleaseKey[] {
  return recordedReleases(collector).filter((recorded) => formatRelease(recorded) !== formatRelease(current))
}

function factsIn<Facts>(outcomes: Outcomes, component: CollectorComponent<Facts>): Facts | undefined {
  // An outcome contains the facts of the component that it is named after.
  return outcomes.find(({ name }) => name === component.name)?.facts as Facts | undefined
}
