/** The status of a DynaKube as a whole: its phase, and when to reconcile it again. */
import { Services } from '@reeve/kube'
import { type DesiredObject, formatTime, type ReconcileReport, type ReconcileSummary } from '@reeve/runtime'
import { isJsonEqual } from '@reeve/runtime/engine'
import { namesOf } from '../../api/dynakube/names.ts'
import type { DynaKube } from '../../api/latest.ts'
import { isTenantUnavailable, TenantApiError } from '../../tenant/client/errors.ts'
import { changeEvents } from '../change-events.ts'
import { readyCondition } from '../ready-condition.ts'
import { withTemplateHash } from '../rendering/template-hash.ts'
import { instancesDueMs } from './components/one-agent/instances.ts'
import type { DynaKubeReporter } from './dynakube-component.ts'

/** When a DynaKube is reconciled again although nothing happened. */
const REQUEUE = Object.freeze({ unchangedMs: 30 * 60_000, changedMs: 5 * 60_000, soonMs: 60_000 })

/**
 * What the status of a DynaKube says as a whole, and when to reconcile it again.
 *
 * @param instancesIntervalMs see {@link instancesDueMs}
 */
export function reportDynaKube(
  summary: ReconcileSummary<DynaKube>,
  reporter: DynaKubeReporter,
  instancesIntervalMs: number | undefined,
): ReconcileReport<DynaKube> {
  const { before, changes, failures, isDeleting, isReady, clock } = summary
  if (isDeleting) return { keepsStatus: true }
  // The tenant will be back, and what was found out half is not worth a write. What failed before counts more.
  if (isTenantUnavailable(failures.find(isRefusal))) {
    return { keepsStatus: true, isHandled: true, requeueAfterMs: REQUEUE.soonMs }
  }
  const phase = failures.length > 0 ? 'Error' : isReady ? 'Running' : 'Deploying'
  reporter.setCondition(readyCondition(phase, summary))
  reporter.update({ phase })
  const isChanged = !isJsonEqual(before.status ?? {}, reporter.status)
  if (isChanged) reporter.update({ updatedTimestamp: formatTime(clock.now()) })
  const events = changeEvents({ before: before.status?.phase, after: reporter.status?.phase, changes })
  const usualMs = isChanged ? REQUEUE.changedMs : REQUEUE.unchangedMs
  const requeueAfterMs = Math.min(usualMs, instancesDueMs(reporter, summary, instancesIntervalMs) ?? usualMs)
  return { events, requeueAfterMs }
}

/** Adds the hash of the template. The labels of namespaces and the Service of gateways never had one. */
export function withHash(wanted: DesiredObject, dynakube: DynaKube): DesiredObject {
  const { namespace, name } = wanted.object.metadata
  const isGatewayService = wanted.resource === Services && name === namesOf(dynakube).activeGate
  return namespace === undefined || isGatewayService ? wanted : withTemplateHash(wanted)
}

/** The tenant responded with an error that counts as unavailable. */
const isRefusal = (error: Error): boolean => error instanceof TenantApiError && error.countsAsUnavailable
