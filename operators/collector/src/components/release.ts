/** Component: carries out the plan with Helm, and uninstalls every release before the Collector is deleted. */
import { HelmError, type ReleaseKey } from '@reeve/helm'
import { isForbidden, objectKey } from '@reeve/kube'
import { type Waiting, waiting } from '@reeve/runtime/components'
import { type ActiveDecision, act, isActive, uninstall } from '../release/act.ts'
import type { CollectorContext } from '../release/collector-context.ts'
import { conclude, SOON_MS } from '../release/conclude.ts'
import { type DesiredRelease, targetFailure } from '../release/desired-release.ts'
import { enumerate } from '../release/enumerate.ts'
import { driftFailure, type Failure, failureOf } from '../release/failure.ts'
import { NOTHING_TO_REPORT } from '../release/inspect-release.ts'
import {
  findNamespace,
  forbidden,
  inspect,
  liveNamespace,
  observeRelease,
  readRecords,
  recordedReleases,
} from '../release/observe-release.ts'
import { excessIn, isOwnedBy, readableHistory } from '../release/release-records.ts'
import { announcedStatus } from '../release/status.ts'
import { formatRelease, isReleaseKey, releaseKeyOf } from '../release-key.ts'
import type { CollectorComponent } from './collector-component.ts'
import { decideOn, type Plan, plan } from './plan.ts'
import { tenantNamespace } from './tenant-namespace.ts'

/** The release after the plan was executed. */
export interface ReleaseResult extends Plan {
  /** Whether Helm was started: what follows from it is not known yet. */
  readonly hasActed: boolean
}

/** The release. */
export const release: CollectorComponent<ReleaseResult> = {
  name: 'release',
  needs: [plan, tenantNamespace],
  async resolve(context) {
    const planned = context.factsOf(plan)
    if (planned === undefined) throw new Error('the release needs a plan')
    const { desired } = planned
    const { decision, release: key } = planned
    if (desired === undefined || decision === undefined || !isActive(decision)) return { ...planned, hasActed: false }
    const { turns } = context.dependencies
    const done = await turns.take(key.namespace, () => carryOut({ ...planned, desired, decision }, context))
    const later = { action: 'wait', why: 'turn', retryAfterMs: SOON_MS } as const
    return done?.result ?? { ...planned, decision: later, hasActed: false }
  },
  async finalize(context) {
    for (const recorded of releasesToRemove(context)) {
      const { turns } = context.dependencies
      const done = await turns.take(recorded.namespace, () => remove(recorded, context))
      if (done === undefined) {
        return waiting(`other releases in ${recorded.namespace}, which come first`, { requeueAfterMs: SOON_MS })
      }
      if (done.result !== undefined) return done.result
    }
    return undefined
  },
}

async function carryOut(
  planned: Plan & { readonly desired: DesiredRelease; readonly decision: ActiveDecision },
  context: CollectorContext,
): Promise<ReleaseResult> {
  const { release: key, desired, decision } = planned
  // The cache may not know yet that the namespace has stopped accepting the Collector.
  const refusal = targetFailure(context, await liveNamespace(key.namespace, context))
  if (refusal !== undefined) return { ...planned, failure: refusal, hasActed: false }
  const { reporter, clock, signal } = context
  reporter.replace(announcedStatus({ ...planned, collector: context.primary, operation: decision.action }, clock))
  await context.writeStatus()
  let failure: Failure | undefined
  try {
    await act(decision, planned, context)
  } catch (error) {
    // Being stopped is not a failure of the release: after a restart the operator continues from the state it finds.
    signal.throwIfAborted()
    failure = failureOf(error, desired.ingredients)
  }
  const observed = await observeRelease(key, context)
  const isHealing = decision.action === 'upgrade' && decision.why === 'drifted'
  if (isHealing) failure ??= driftFailure(observed.workloads, desired.ingredients)
  failure ??= observed.failure
  const next = observed.failure === undefined && { decision: decideOn(observed, planned, context) }
  return { release: key, desired, ...observed, ...(failure && { failure }), ...next, hasActed: true }
}

/** The releases that may exist: those in the status, or the one of the spec when the status does not say. */
function releasesToRemove({ primary }: CollectorContext): readonly ReleaseKey[] {
  if (primary.status?.releases !== undefined) return recordedReleases(primary)
  return [releaseKeyOf(primary.spec)].filter(isReleaseKey)
}

/** Uninstalls a release that belongs to the Collector. Returns what it waits for, if it still exists. */
async function remove(key: ReleaseKey, context: CollectorContext): Promise<Waiting | undefined> {
  if (await isDeleted(key.namespace, context)) return undefined
  const { primary, signal } = context
  try {
    const records = await readRecords(key, context)
    if (!isOwnedBy(records, objectKey(primary))) return undefined
    const excess = excessIn(records)
    if (excess !== undefined) return await failed(key, failureOf(excess), context)
    const history = readableHistory(records)
    const workloads = await inspect(history, context)
    const announced = { collector: primary, release: key, history, workloads, operation: 'uninstall' } as const
    context.reporter.replace(announcedStatus(announced, context.clock))
    await context.writeStatus()
    const remaining = await uninstall(key, records, context)
    if (remaining.length > 0) {
      return waiting(`${enumerate(remaining)} of ${formatRelease(key)} to be deleted, which a finalizer prevents`, {
        requeueAfterMs: SOON_MS,
      })
    }
    const isGone = !isOwnedBy(await readRecords(key, context), objectKey(primary))
    return isGone
      ? undefined
      : waiting(`the records of ${formatRelease(key)} to be deleted`, { requeueAfterMs: SOON_MS })
  } catch (error) {
    signal.throwIfAborted()
    // A status without a list of releases is one that was never written: then nothing was installed either.
    if (isForbidden(error) && primary.status?.releases === undefined) return undefined
    if (isForbidden(error)) return failed(key, forbidden(key, error, context), context)
    if (error instanceof HelmError) return failed(key, failureOf(error), context)
    throw error
  }
}

/** Everything in a namespace is deleted with it, possibly the rights of the account first. */
async function isDeleted(name: string, context: CollectorContext): Promise<boolean> {
  const namespace = await findNamespace(name, context)
  return namespace === undefined || namespace.metadata.deletionTimestamp !== undefined
}

/** Reports why a release could not be uninstalled, and when that is tried again. */
async function failed(key: ReleaseKey, failure: Failure, context: CollectorContext): Promise<Waiting> {
  const { primary, reporter, clock, dependencies } = context
  const records = await readRecords(key, context).catch((error: unknown) => {
    if (isForbidden(error)) return []
    throw error
  })
  const history = readableHistory(records)
  const workloads = await inspect(history, context).catch((error: unknown) => {
    // The failure says why its manifest is not read.
    if (error instanceof HelmError) return NOTHING_TO_REPORT
    throw error
  })
  const outcome = { release: key, history, workloads, failure, releases: releasesToRemove(context) }
  const { status, events, requeueAfterMs } = conclude(primary, outcome, { clock, ...dependencies })
  reporter.replace(status)
  for (const event of events) reporter.event(event)
  return waiting(`release ${formatRelease(key)} to be uninstalled`, { requeueAfterMs })
}
