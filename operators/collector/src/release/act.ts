/** Carries decisions out. */
import { type DryRunOptions, planRecovery, type Release, type ReleaseKey, ReleaseRecordError } from '@reeve/helm'
import { isNotFound, objectKey, Secrets } from '@reeve/kube'
import type { Decision } from '../decision/decide.ts'
import { ownerMark, revisionMarks } from '../decision/revision-marks.ts'
import type { HelmAction } from '../metrics.ts'
import { formatRelease } from '../release-key.ts'
import { as } from '../tenancy/service-account.ts'
import { checkObjects, type ManifestPart } from './check-objects.ts'
import type { CollectorContext } from './collector-context.ts'
import type { DesiredRelease } from './desired-release.ts'
import { accountIn, readRecords } from './observe-release.ts'
import { excessIn, type RecordedRelease, type ReleaseRecord, readableHistory } from './release-records.ts'
import { remainingObjects, removeStrays } from './stray-objects.ts'

const CRD_KIND = 'CustomResourceDefinition.apiextensions.k8s.io'

/** A release, the desired chart and values, and its revisions. */
export interface Task {
  readonly release: ReleaseKey
  readonly desired: DesiredRelease
  readonly history: readonly RecordedRelease[]
}

/** Decisions that change a release. */
export type ActiveDecision = Extract<Decision, { readonly action: 'install' | 'upgrade' | 'rollback' | 'recover' }>

/** Whether a decision changes a release. */
export function isActive(decision: Decision): decision is ActiveDecision {
  return ['install', 'upgrade', 'rollback', 'recover'].includes(decision.action)
}

/**
 * Does what was decided, and reports it as an event.
 *
 * *Errors*: those of Helm.
 */
export async function act(decision: ActiveDecision, task: Task, context: CollectorContext): Promise<void> {
  const { release, desired, history } = task
  const { primary, signal, reporter } = context
  const { helm, helmTimeoutMs: timeoutMs, staleAfterMs } = context.dependencies
  const limits = { signal, timeoutMs, ...as(accountIn(release.namespace, context)) }
  const deploy = {
    ...limits,
    ...revisionMarks(objectKey(primary), desired.ingredients),
    values: desired.values,
    valuesAreSecret: desired.areValuesSecret,
  }
  // Fields that other managers have changed are taken back only where drift should be healed.
  const conflicts = { forceConflicts: primary.spec.drift === 'Heal' }
  const what = `${formatRelease(release)} with ${desired.chart.name} ${desired.chart.version}`
  const say = (reason: string, message: string) => reporter.event({ reason, message })
  switch (decision.action) {
    case 'install':
      await checkRendered('install', task, deploy, context)
      await timed('install', context, () =>
        helm.install(release, desired.chart, { ...deploy, skipCrds: !mayHaveCrds(context) }),
      )
      return say('Installed', `installed ${what}`)
    case 'upgrade':
      await checkRendered('upgrade', task, deploy, context)
      await timed('upgrade', context, () => helm.upgrade(release, desired.chart, { ...deploy, ...conflicts }))
      return say('Upgraded', `upgraded ${what}: ${REASONS[decision.why]}`)
    case 'rollback':
      await checkRevision(decision.revision, task, context)
      await timed('rollback', context, () => helm.rollback(release, decision.revision, { ...limits, ...conflicts }))
      return say('RolledBack', `returned ${formatRelease(release)} to revision ${decision.revision}`)
    case 'recover': {
      // A record that an uninstall kept is removed like the traces of an interrupted one.
      const isKept = history.at(-1)?.status === 'uninstalled'
      const recovery = planRecovery(history, { now: context.clock.now(), staleAfterMs })
      if (recovery.action === 'rollback') await checkRevision(recovery.revision, task, context)
      await timed<unknown>('recover', context, () =>
        isKept
          ? helm.uninstall(release, limits)
          : helm.recover(release, { ...limits, ...conflicts, history, staleAfterMs }),
      )
      return say('Recovered', `recovered ${formatRelease(release)} from an interrupted operation`)
    }
  }
}

/**
 * Uninstalls a release with everything in it. Objects that a finalizer keeps are not waited for here, which would occupy Helm
 * and a worker for minutes: as long as there are any, their names are returned, and the records, which list them, are kept.
 *
 * @param records of the release, some of which may be unreadable
 *
 * *Errors*: those of Helm and of the API server.
 */
export async function uninstall(
  release: ReleaseKey,
  records: readonly ReleaseRecord[],
  context: CollectorContext,
): Promise<readonly string[]> {
  const { signal, reporter } = context
  const { helm, helmTimeoutMs: timeoutMs } = context.dependencies
  const { impersonate } = as(accountIn(release.namespace, context))
  const access = { client: context.clientAs(impersonate), signal }
  // Other records that cannot be read do not prevent the deletion: Helm decides what there is to uninstall.
  const excess = excessIn(records)
  if (excess !== undefined) throw excess
  const history = readableHistory(records)
  const newest = history.at(-1)
  if (newest?.status !== 'uninstalled') {
    await removeStrays(history, access)
    await timed('uninstall', context, () =>
      helm.uninstall(release, { signal, timeoutMs, impersonate, keepHistory: true }),
    )
  }
  const remaining = newest === undefined ? [] : await remainingObjects(newest, access)
  if (remaining.length > 0) return remaining
  await removeRecords(release, context)
  reporter.event({ reason: 'Uninstalled', message: `uninstalled ${formatRelease(release)}` })
  return []
}

/** Deletes the records of a release, and of those that cannot be read the Collector's: nobody knows whose the others are. */
async function removeRecords(release: ReleaseKey, context: CollectorContext): Promise<void> {
  const { primary, signal } = context
  const mark = ownerMark(objectKey(primary))
  const client = context.clientAs(as(accountIn(release.namespace, context)).impersonate)
  for (const { key, uid, owner, content } of await readRecords(release, context)) {
    if (content instanceof ReleaseRecordError && owner !== mark) continue
    await client.delete(Secrets, key, { preconditions: { uid }, signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  }
}

/**
 * Renders the release before it is installed, and rejects objects outside its namespace.
 *
 * *Errors*: `ObjectsNotAllowedError`, and those of Helm.
 */
async function checkRendered(
  operation: 'install' | 'upgrade',
  { release, desired }: Task,
  deploy: Omit<DryRunOptions, 'operation'>,
  context: CollectorContext,
): Promise<void> {
  const { helm } = context.dependencies
  const rendered = await context.stage('render chart', () =>
    helm.render(release, desired.chart, { ...deploy, operation }),
  )
  const crds = operation === 'install' ? await helm.crds(desired.chart, { signal: context.signal }) : []
  const fromCrds = crds.map(({ text }) => ({ kind: 'crds folder', text }) as const)
  await checkParts(release, [...partsOf(rendered), ...fromCrds], context)
}

/**
 * Checks a revision before Helm returns to it: its record may have been replaced since it was made.
 *
 * *Errors*: `ObjectsNotAllowedError`.
 */
async function checkRevision(revision: number, { release, history }: Task, context: CollectorContext): Promise<void> {
  const target = history.find((candidate) => candidate.revision === revision)
  if (target === undefined) return
  await checkParts(release, partsOf(target), context)
}

function partsOf({ manifest, hooks }: Pick<Release, 'manifest' | 'hooks'>): readonly ManifestPart[] {
  return [{ kind: 'manifest', text: manifest }, ...hooks.map((text) => ({ kind: 'hook', text }) as const)]
}

async function checkParts(
  release: ReleaseKey,
  parts: readonly ManifestPart[],
  context: CollectorContext,
): Promise<void> {
  const { signal, dependencies } = context
  const client = context.clientAs(as(accountIn(release.namespace, context)).impersonate)
  const { allowedKinds = [] } = dependencies.settings
  await checkObjects(parts, { release, allowedKinds, client, options: { signal } })
}

/** Whether charts may contain custom resource definitions; otherwise Helm skips them in any case. */
function mayHaveCrds({ dependencies }: CollectorContext): boolean {
  return dependencies.settings.allowedKinds?.includes(CRD_KIND) ?? false
}

const REASONS = {
  changed: 'chart or values changed',
  foreign: 'it was changed manually',
  failed: 'the previous revision had failed',
  drifted: 'some of its objects were missing or changed',
} as const

async function timed<T>(action: HelmAction, context: CollectorContext, run: () => Promise<T>): Promise<T> {
  const { clock, dependencies } = context
  const start = clock.now()
  let outcome = 'failure'
  try {
    const result = await context.stage(action, run)
    outcome = 'success'
    return result
  } finally {
    dependencies.metrics.actions.observe({ action, outcome }, (clock.now() - start) / 1_000)
  }
}
