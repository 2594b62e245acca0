/** Component: the desired chart and values, what exists, and what to do. */
import type { ReleaseKey } from '@reeve/helm'
import { formatKey, type Namespace, objectKey } from '@reeve/kube'
import type { Collector } from '../api/collector.ts'
import { claimants } from '../cached-collectors.ts'
import { type Decision, decide } from '../decision/decide.ts'
import type { Ingredients } from '../decision/revision-marks.ts'
import type { CollectorContext } from '../release/collector-context.ts'
import { type DesiredRelease, resolveRelease } from '../release/desired-release.ts'
import { driftFailure, type Failure } from '../release/failure.ts'
import type { ReleaseReport } from '../release/inspect-release.ts'
import { knownFailure } from '../release/known-failures.ts'
import {
  findNamespace,
  isRecorded,
  NOT_INSTALLED,
  type ObservedRelease,
  observeRelease,
} from '../release/observe-release.ts'
import { releaseKeyOf } from '../release-key.ts'
import { mayCreateAccount } from '../tenancy/created-namespace.ts'
import type { CollectorComponent } from './collector-component.ts'

/** What a reconcile has found out. */
export interface Plan extends ObservedRelease {
  readonly release: ReleaseKey
  /** The namespace of the release; undefined when it does not exist, or when it does not matter. */
  readonly namespace?: Namespace | undefined
  /** Absent when the Collector is not valid, or the chart cannot be fetched. */
  readonly desired?: DesiredRelease
  /** Absent when no decision was possible: then `failure` says why. */
  readonly decision?: Decision
  readonly failure?: Failure
}

/** Decides, and changes nothing. */
export const plan: CollectorComponent<Plan> = {
  name: 'plan',
  async resolve(context) {
    const release = releaseKeyOf(context.primary.spec)
    const { desired, failure } = await resolveRelease(context)
    if (desired === undefined) return { ...(await observeOwn(release, context)), release, failure }
    const namespace = await findNamespace(release.namespace, context)
    const observed = await observeTarget(release, namespace, context)
    context.dependencies.onObserved?.(context.key, release, observed)
    const found = { ...observed, release, namespace, desired }
    return observed.failure === undefined ? { ...found, decision: decideOn(observed, found, context) } : found
  },
}

/**
 * The release of a Collector that cannot be served at present. Only a release that the Collector has installed itself is
 * read: the spec may name the namespace of another tenant.
 */
async function observeOwn(release: ReleaseKey, context: CollectorContext): Promise<ObservedRelease> {
  if (!isRecorded(context.primary, release)) return NOT_INSTALLED
  if ((await findNamespace(release.namespace, context)) === undefined) return NOT_INSTALLED
  const observed = await observeRelease(release, context)
  return observed.isOwned || observed.records !== 'read' ? observed : NOT_INSTALLED
}

async function observeTarget(
  release: ReleaseKey,
  namespace: Namespace | undefined,
  context: CollectorContext,
): Promise<ObservedRelease> {
  if (namespace === undefined) return NOT_INSTALLED
  const observed = await observeRelease(release, context)
  // After a crash a namespace may exist without its account. As long as nothing is recorded, nothing was installed.
  const isUnfinished = observed.records === 'forbidden' && !isRecorded(context.primary, release)
  return isUnfinished && mayCreateAccount(context.primary, namespace, context.dependencies) ? NOT_INSTALLED : observed
}

/** What to do about a release, from its present state. */
export function decideOn(
  { history, workloads }: Pick<ObservedRelease, 'history' | 'workloads'>,
  { release, desired }: { readonly release: ReleaseKey; readonly desired: DesiredRelease },
  { primary, cache, clock, dependencies }: CollectorContext,
): Decision {
  const { ingredients } = desired
  const [holder] = claimants(cache, release, dependencies.tenancy)
  const isClaimed = holder !== undefined && holder.metadata.uid !== primary.metadata.uid
  const { suspend, rollback, drift } = primary.spec
  return decide({
    history,
    desired: ingredients,
    health: workloads.health,
    drift: driftOf(primary, workloads, ingredients),
    ...(isClaimed && { claimedBy: formatKey(objectKey(holder)) }),
    lastFailure: knownFailure(primary.status, ingredients),
    policy: { isSuspended: suspend, rollsBack: rollback.onFailure, heals: drift === 'Heal' },
    now: clock.now(),
    staleAfterMs: dependencies.staleAfterMs,
  })
}

/** Drift that is still there after an upgrade is recorded in the status, and a second upgrade would not help either. */
function driftOf({ status }: Collector, workloads: ReleaseReport, ingredients: Ingredients) {
  const failure = driftFailure(workloads, ingredients)
  if (failure === undefined) return 'none'
  const { reason, message } = status?.lastFailure ?? {}
  return reason === failure.reason && message === failure.message ? 'persistent' : 'found'
}
