/** Carries decisions out. */
import type { DryRunOptions, ReleaseKey } from '@reeve/helm'
import { isNotFound, objectKey, Secrets, type ServiceAccountKey, type Stored } from '@reeve/kube'
import type { Collector } from '../api/collector.ts'
import type { Decision } from '../decision/decide.ts'
import { OWNER_LABEL, ownerMark, type Revision, revisionMarks } from '../decision/revision-marks.ts'
import type { HelmAction } from '../metrics.ts'
import { formatRelease } from '../release-key.ts'
import { accountOf, as } from '../tenancy/service-account.ts'
import { checkObjects } from './check-objects.ts'
import type { CollectorContext } from './collector-context.ts'
import type { DesiredRelease } from './desired-release.ts'
import { ensureNamespace } from './ensure-namespace.ts'
import { readableHistory, recordsOf } from './releases.ts'
import { removeStrays } from './stray-objects.ts'

const CRD_KIND = 'CustomResourceDefinition.apiextensions.k8s.io'

/** What is done to a release of a Collector. */
export interface Task {
  readonly collector: Stored<Collector>
  readonly release: ReleaseKey
  readonly desired: DesiredRelease
  readonly history: readonly Revision[]
}

/** Decisions that change a release. */
export type ActiveDecision = Extract<Decision, { readonly action: 'install' | 'upgrade' | 'rollback' | 'recover' }>

/** Whether a decision changes a release. */
export function isActive(decision: Decision): decision is ActiveDecision {
  return ['install', 'upgrade', 'rollback', 'recover'].includes(decision.action)
}

/**
 * Does what was decided, and says so in an event.
 *
 * *Errors*: those of Helm.
 */
export async function act(decision: ActiveDecision, task: Task, context: CollectorContext): Promise<void> {
  const { collector, release, desired, history } = task
  const { helm, request, helmTimeoutMs: timeoutMs, staleAfterMs } = context
  const limits = { signal: request.signal, timeoutMs, ...as(accountIn(release.namespace, collector, context)) }
  const deploy = {
    ...limits,
    ...revisionMarks(objectKey(collector), desired.ingredients),
    values: desired.values,
    valuesAreSecret: desired.areValuesSecret,
  }
  // What others have written into the objects is taken back where the user wants drift to be healed, and only there.
  const conflicts = { forceConflicts: collector.spec.drift === 'Heal' }
  const what = `${formatRelease(release)} with ${desired.chart.name} ${desired.chart.version}`
  const say = (reason: string, message: string) => request.events.record(collector, { reason, message })
  switch (decision.action) {
    case 'install':
      await ensureNamespace(collector, release.namespace, context)
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
      await timed('rollback', context, () => helm.rollback(release, decision.revision, { ...limits, ...conflicts }))
      return say('RolledBack', `returned ${formatRelease(release)} to revision ${decision.revision}`)
    case 'recover': {
      // A record that an uninstall kept is removed like the traces of an interrupted one.
      const isKept = history.at(-1)?.status === 'uninstalled'
      await timed<unknown>('recover', context, () =>
        isKept
          ? helm.uninstall(release, limits)
          : helm.recover(release, { ...limits, ...conflicts, history, staleAfterMs }),
      )
      return say('Recovered', `freed ${formatRelease(release)} from an operation that nobody finished`)
    }
  }
}

/**
 * Removes a release with everything in it, and waits until that is gone.
 *
 * *Errors*: those of Helm.
 */
export async function uninstall(
  collector: Stored<Collector>,
  release: ReleaseKey,
  context: CollectorContext,
): Promise<void> {
  const { helm, request, helmTimeoutMs: timeoutMs } = context
  const { client, signal } = request
  const identity = as(accountIn(release.namespace, collector, context))
  // What cannot be read stands in nobody's way: Helm decides what there is to uninstall.
  await removeStrays(await readableHistory(release, context), { client, signal, ...identity })
  await timed('uninstall', context, () => helm.uninstall(release, { signal, timeoutMs, wait: true, ...identity }))
  await removeRecords(collector, release, context)
  request.events.record(collector, { reason: 'Uninstalled', message: `uninstalled ${formatRelease(release)}` })
}

/** Removes the records of a Collector that Helm cannot read: to Helm they are no release, and it leaves them behind. */
async function removeRecords(
  collector: Stored<Collector>,
  release: ReleaseKey,
  context: CollectorContext,
): Promise<void> {
  const { client, signal } = context.request
  const mark = ownerMark(objectKey(collector))
  const identity = as(accountIn(release.namespace, collector, context))
  for (const { metadata } of await recordsOf(release, context)) {
    if (metadata.labels?.[OWNER_LABEL] !== mark) continue
    const { namespace, name, uid } = metadata
    const key = { name, ...(namespace !== undefined && { namespace }) }
    await client.delete(Secrets, key, { preconditions: { uid }, signal, ...identity }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  }
}

/**
 * Renders the release as it is about to be made, and refuses what leaves its namespace.
 *
 * *Errors*: `ObjectsNotAllowedError`, and those of Helm.
 */
async function checkRendered(
  operation: 'install' | 'upgrade',
  { release, desired }: Task,
  deploy: Omit<DryRunOptions, 'operation'>,
  context: CollectorContext,
): Promise<void> {
  const { helm, request, settings } = context
  const { client, signal } = request
  const { manifest, hooks } = await request.stage('render', () =>
    helm.render(release, desired.chart, { ...deploy, operation }),
  )
  const crds = operation === 'install' ? await helm.crds(desired.chart) : []
  await checkObjects(
    [
      { kind: 'manifest', text: manifest },
      ...hooks.map((text) => ({ kind: 'hook', text }) as const),
      ...crds.map(({ text }) => ({ kind: 'crds folder', text }) as const),
    ],
    { release, allowedKinds: settings.allowedKinds ?? [], client, options: { signal } },
  )
}

/** Whether charts may bring custom resource definitions; otherwise Helm is told to leave them out in any case. */
function mayHaveCrds({ settings }: CollectorContext): boolean {
  return settings.allowedKinds?.includes(CRD_KIND) ?? false
}

/** Whom everything about a release of a Collector is done as. */
export function accountIn(
  namespace: string,
  { spec }: Collector,
  { settings }: Pick<CollectorContext, 'settings'>,
): ServiceAccountKey {
  return { namespace, name: accountOf(spec, settings) }
}

const REASONS = {
  changed: 'chart or values changed',
  foreign: 'somebody had changed it by hand',
  failed: 'the revision before had failed',
  drifted: 'objects of it were missing or changed',
} as const

async function timed<T>(action: HelmAction, { request, metrics }: CollectorContext, run: () => Promise<T>): Promise<T> {
  const start = request.clock.now()
  let outcome = 'failure'
  try {
    const result = await request.stage(action, run)
    outcome = 'success'
    return result
  } finally {
    metrics.actions.observe({ action, outcome }, (request.clock.now() - start) / 1_000)
  }
}
