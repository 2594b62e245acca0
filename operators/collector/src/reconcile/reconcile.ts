/** What happens to one Collector: resolve, look, decide, act, report. */
import { HelmError, type Release, type ReleaseKey } from '@reeve/helm'
import { formatKey, Namespaces, objectKey, type Stored } from '@reeve/kube'
import { getCondition } from '@reeve/runtime'
import type { Reconcile, ReconcileResult } from '@reeve/runtime/controller'
import { writeStatus } from '@reeve/runtime/engine'
import { withFinalizer } from '@reeve/runtime/finalizers'
import { type Collector, Collectors } from '../api/collector.ts'
import { type Decision, decide } from '../decision/decide.ts'
import type { Ingredients } from '../decision/revision-marks.ts'
import { formatRelease, releaseKeyOf } from '../release-key.ts'
import { as } from '../tenancy/service-account.ts'
import { accountIn, act, isActive, uninstall } from './act.ts'
import { claimants } from './cached-collectors.ts'
import type { CollectorContext, CollectorParts } from './collector-context.ts'
import { type DesiredRelease, resolveRelease } from './desired-release.ts'
import { enumerate } from './enumerate.ts'
import { driftFailure, type Failure, failureOf, noteFailure, remainingMs } from './failure.ts'
import { NOTHING_TO_REPORT, type ReleaseReport } from './inspect-release.ts'
import { knownFailure, remembered, rollbackCause } from './known-failures.ts'
import { cachedReleasesOf, liveHistory, liveReleasesOf, RecordReader, readableHistory } from './releases.ts'
import { deriveStatus, type Findings, type Operation } from './status.ts'

/** Keeps a Collector until its releases are gone. */
const FINALIZER = 'example.com/collector-release'

/** How soon to look again at what goes on outside. */
const SOON_MS = 2_000

/**
 * The reconcile function of Collectors.
 *
 * @example
 * controller({ name: 'collector', for: Collectors, reconcile: collectorReconcile(parts) })
 */
export function collectorReconcile(parts: CollectorParts): Reconcile<Collector> {
  const records = new RecordReader()
  return async (request) => {
    const { object, client, signal } = request
    if (object === undefined) return undefined
    const context: CollectorContext = { ...parts, request }
    return withFinalizer<Collector, ReconcileResult>(object, {
      client,
      resource: Collectors,
      finalizer: FINALIZER,
      signal,
      reconcile: (collector) =>
        keepRelease(collector, records, context).catch((error) => unreadable(error, collector, context)),
      cleanup: (collector) => removeReleases(collector, context),
    })
  }
}

async function keepRelease(
  collector: Stored<Collector>,
  records: RecordReader,
  context: CollectorContext,
): Promise<ReconcileResult> {
  const { request } = context
  const release = releaseKeyOf(collector.spec)
  const { desired, failure } = await request.stage('resolve', () => resolveRelease(collector, context))
  if (desired === undefined) {
    const history = records.history(request.cache, release)
    return report(collector, { release, history, failure }, context)
  }
  const cached = await look(collector, release, desired, records.history(request.cache, release), context)
  if (!isActive(cached.decision)) {
    const leftovers = isUp(cached)
      ? await removeLeftovers(collector, release, context)
      : leftoversOf(collector, release, context)
    const stuck = cached.decision.action === 'note-stuck'
    const noted: Failure | undefined = stuck
      ? { reason: 'WorkloadsStuck', message: enumerate(cached.workloads.notes, '; '), tried: desired.ingredients }
      : leftovers.failure
    return report(collector, { ...cached, release, desired, failure: noted, leftovers: leftovers.releases }, context)
  }
  // Helm writes past the cache: what is about to be done is decided on what the server has.
  const live = await look(collector, release, desired, await liveHistory(release, context), context)
  if (!isActive(live.decision)) return report(collector, { ...live, release, desired }, context)
  let problem: Failure | undefined
  const operation = live.decision.action
  const noted = await announce(collector, { ...live, release, desired, operation }, context)
  try {
    await act(live.decision, { collector, release, desired, history: live.history }, context)
  } catch (error) {
    // A stop is not a failure of the release: the next start finds what is there.
    request.signal.throwIfAborted()
    problem = failureOf(error, desired.ingredients)
  }
  const after = await look(collector, release, desired, await liveHistory(release, context), context)
  const isHealing = live.decision.action === 'upgrade' && live.decision.why === 'drifted'
  if (isHealing) problem ??= driftFailure(after.workloads, desired.ingredients)
  return report(noted, { ...after, release, desired, failure: problem, hasActed: true }, context)
}

/** What is recorded of the release makes no sense: nothing is done to it until somebody has looked. */
function unreadable(error: unknown, collector: Stored<Collector>, context: CollectorContext): Promise<ReconcileResult> {
  if (!(error instanceof HelmError)) throw error
  const release = releaseKeyOf(collector.spec)
  return report(collector, { release, history: [], failure: failureOf(error) }, context)
}

/** Whether the release is there and works, so that the one before a move is no longer needed. */
function isUp({ decision, workloads }: Sight): boolean {
  const isThere = decision.action === 'nothing' && decision.state !== 'suspended'
  return isThere && workloads.health === 'ready'
}

interface Sight {
  readonly history: readonly Release[]
  readonly workloads: ReleaseReport
  readonly decision: Decision
}

async function look(
  collector: Stored<Collector>,
  release: ReleaseKey,
  { ingredients }: DesiredRelease,
  history: readonly Release[],
  context: CollectorContext,
): Promise<Sight> {
  const { request, staleAfterMs } = context
  const { cache, clock } = request
  const workloads = await inspect(collector, history, context)
  const [holder] = claimants(cache, release, context.tenancy)
  const isHeldByOther = holder !== undefined && holder.metadata.uid !== collector.metadata.uid
  const { suspend, rollback, drift } = collector.spec
  const decision = decide({
    history,
    desired: ingredients,
    health: workloads.health,
    drift: driftOf(collector, workloads, ingredients),
    ...(isHeldByOther && { claimedBy: formatKey(objectKey(holder)) }),
    lastFailure: knownFailure(collector.status, ingredients),
    policy: { isSuspended: suspend, rollsBack: rollback.onFailure, heals: drift === 'Heal' },
    now: clock.now(),
    staleAfterMs,
  })
  return { history, workloads, decision }
}

async function inspect(
  collector: Collector,
  history: readonly Release[],
  context: CollectorContext,
): Promise<ReleaseReport> {
  const { inspector, request } = context
  const account = accountIn(history.at(-1)?.namespace ?? '', collector, context)
  const { cache, client, clock, signal } = request
  const deployed = history.findLast(({ status }) => status === 'deployed')
  return deployed === undefined
    ? NOTHING_TO_REPORT
    : inspector.inspect(deployed, { cache, client, signal, now: clock.now(), ...as(account) })
}

/** Drift that outlived an upgrade is known from the status, and a second upgrade would not help either. */
function driftOf({ status }: Collector, workloads: ReleaseReport, ingredients: Ingredients) {
  const failure = driftFailure(workloads, ingredients)
  if (failure === undefined) return 'none'
  const { reason, message } = status?.lastFailure ?? {}
  return reason === failure.reason && message === failure.message ? 'in-vain' : 'found'
}

interface Leftovers {
  readonly releases: readonly ReleaseKey[]
  readonly failure?: Failure
}

/** Releases of before a move. One that another Collector asks for by now is that one's to take over. */
function leftoversOf(
  collector: Stored<Collector>,
  release: ReleaseKey,
  { request, tenancy }: CollectorContext,
): Leftovers {
  const { cache } = request
  const isWanted = (left: ReleaseKey) =>
    claimants(cache, left, tenancy).some(({ metadata }) => metadata.uid !== collector.metadata.uid)
  const owned = cachedReleasesOf(objectKey(collector), cache)
  return { releases: owned.filter((left) => formatRelease(left) !== formatRelease(release) && !isWanted(left)) }
}

/** After a move the old release goes when the new one is up. */
async function removeLeftovers(
  collector: Stored<Collector>,
  release: ReleaseKey,
  context: CollectorContext,
): Promise<Leftovers> {
  const { releases } = leftoversOf(collector, release, context)
  if (releases.length === 0) return { releases }
  // The cache may be behind, and whose a release is may have changed since.
  const owned = new Set((await liveReleasesOf(objectKey(collector), context)).map(formatRelease))
  const left: ReleaseKey[] = []
  let failure: Failure | undefined
  for (const old of releases.filter((candidate) => owned.has(formatRelease(candidate)))) {
    try {
      await uninstall(collector, old, context)
    } catch (error) {
      context.request.signal.throwIfAborted()
      failure = failureOf(error)
      left.push(old)
    }
  }
  return { releases: left, ...(failure && { failure }) }
}

/** Uninstalls everything that carries the mark of the Collector, from its records alone. */
async function removeReleases(
  collector: Stored<Collector>,
  context: CollectorContext,
): Promise<'done' | ReconcileResult> {
  const { request } = context
  const key = objectKey(collector)
  let noted = collector
  for (const release of await liveReleasesOf(key, context)) {
    // A namespace takes everything in it along, first of all perhaps the rights of the account.
    if (isTerminating(release.namespace, context)) continue
    const history = await readableHistory(release, context)
    noted = await announce(noted, { release, history, operation: 'uninstall' }, context)
    try {
      await uninstall(noted, release, context)
    } catch (error) {
      request.signal.throwIfAborted()
      return report(
        noted,
        { release, history: await readableHistory(release, context), failure: failureOf(error) },
        context,
      )
    }
  }
  return (await liveReleasesOf(key, context)).length === 0 ? 'done' : { requeueAfterMs: SOON_MS }
}

function isTerminating(name: string, { request }: CollectorContext): boolean {
  return request.cache.get(Namespaces, { name })?.metadata.deletionTimestamp !== undefined
}

/** What is to be reported; what is left out is as usual. */
interface Account extends Partial<Omit<Findings, 'collector' | 'lastFailure' | 'rolledBack'>> {
  readonly release: ReleaseKey
  readonly history: readonly Release[]
  readonly failure?: Failure | undefined
  readonly hasActed?: boolean
}

/**
 * Says in the status what is about to be done: Helm may take minutes, and whoever looks meanwhile is told the truth.
 * Returns the Collector with that status.
 */
async function announce(
  collector: Stored<Collector>,
  account: Account & { readonly operation: Operation },
  context: CollectorContext,
): Promise<Stored<Collector>> {
  const { client, clock, signal, cache } = context.request
  const workloads = account.workloads ?? (await inspect(collector, account.history, context))
  const { lastFailure, rolledBack } = collector.status ?? {}
  const findings = { ...account, collector, workloads, leftovers: [], lastFailure, rolledBack }
  await writeStatus(client, Collectors, collector, deriveStatus(findings, clock), { signal })
  // Own writes are visible in the cache as soon as they return.
  return cache.get(Collectors, objectKey(collector)) ?? collector
}

async function report(
  collector: Stored<Collector>,
  account: Account,
  context: CollectorContext,
): Promise<ReconcileResult> {
  const { request, metrics, resyncMs } = context
  const { client, clock, events, signal } = request
  const { failure, history, hasActed = false, leftovers = [], decision } = account
  const now = clock.now()
  const workloads = account.workloads ?? (await inspect(collector, history, context))
  const outcome = { decision, ingredients: account.desired?.ingredients }
  const before = knownFailure(collector.status, outcome.ingredients)
  const lastFailure = failure === undefined ? remembered(before, outcome) : noteFailure(before, failure, now)
  const rolledBack = rollbackCause(collector.status?.rolledBack, lastFailure, outcome)
  if (lastFailure !== undefined && lastFailure !== before) metrics.failures.inc({ reason: lastFailure.reason })
  const status = deriveStatus({ ...account, collector, workloads, leftovers, lastFailure, rolledBack }, clock)
  const degraded = getCondition(status.conditions as Parameters<typeof getCondition>[0], 'Degraded')
  const known = getCondition(collector.status?.conditions as Parameters<typeof getCondition>[0], 'Degraded')
  const isNews = degraded?.reason !== known?.reason || degraded?.message !== known?.message
  if (degraded?.status === 'True' && isNews) {
    events.record(collector, { type: 'Warning', reason: degraded.reason, message: degraded.message })
  }
  await writeStatus(client, Collectors, collector, status, { signal })
  if (decision?.action === 'wait') return { requeueAfterMs: decision.retryAfterMs }
  if (failure !== undefined && lastFailure !== undefined) return { requeueAfterMs: remainingMs(lastFailure, now) }
  const isUnsettled = hasActed || decision?.action === 'note-stuck' || workloads.health === 'progressing'
  return { requeueAfterMs: isUnsettled || leftovers.length > 0 ? SOON_MS : resyncMs }
}
