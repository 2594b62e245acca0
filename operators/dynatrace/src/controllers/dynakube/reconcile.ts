/** How DynaKubes are reconciled: their components, and what their status says as a whole. */
import { randomBytes } from 'node:crypto'
import { ConfigMaps, DaemonSets, Deployments, Secrets, Services, StatefulSets } from '@reeve/kube'
import { type DesiredObject, formatTime, type ReconcileReport, type ReconcileSummary } from '@reeve/runtime'
import { type EngineReconcile, reconcileComponents } from '@reeve/runtime/components'
import { isJsonEqual } from '@reeve/runtime/engine'
import { namesOf } from '../../api/dynakube/names.ts'
import { IgnoredNamespacePatterns } from '../../api/ignored-namespaces.ts'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import { isTenantUnavailable, TenantApiError } from '../../tenant/client/errors.ts'
import { createTenantClient } from '../../tenant/client/tenant-client.ts'
import { changeEvents } from '../change-events.ts'
import { FIELD_MANAGER } from '../field-manager.ts'
import { LimitedCertificates } from '../generated/limited-certificates.ts'
import { selfSigned } from '../generated/self-signed.ts'
import { withTemplateHash } from '../rendering/template-hash.ts'
import { ELSEWHERE } from './components/injection/namespace-objects.ts'
import { hasIstio, IstioMissingError } from './components/istio/istio.ts'
import { ISTIO_KINDS } from './components/istio/resources.ts'
import { instancesDueMs } from './components/one-agent/instances.ts'
import { COMPONENTS } from './components.ts'
import type { DynaKubeDependencies, DynaKubeOptions } from './dependencies.ts'
import type { DynaKubeReporter } from './dynakube-component.ts'

export type { DynaKubeOptions } from './dependencies.ts'

/** The kinds that a DynaKube owns in every cluster. In a mesh there are those of Istio as well. */
export const OWNED = [ConfigMaps, Secrets, Services, DaemonSets, Deployments, StatefulSets] as const

/** When a DynaKube is reconciled again although nothing happened. */
const REQUEUE = Object.freeze({ unchangedMs: 30 * 60_000, changedMs: 5 * 60_000, soonMs: 60_000 })

/**
 * The reconcile function of DynaKubes.
 *
 * *Guarantees*: may be cut after any write and run again; an unchanged DynaKube in an unchanged tenant costs no
 * request to the cluster, but for two lists when it asks for Istio, and none to the tenant within the request
 * threshold.
 *
 * @example
 * controller({ name: 'dynakube', for: DynaKubes, owns: OWNED, reconcile: dynaKubeReconcile({ operator, clusterId }) })
 */
export function dynaKubeReconcile(options: DynaKubeOptions): EngineReconcile<DynaKube> {
  const dependencies: DynaKubeDependencies = {
    ...options,
    connect: options.connect ?? createTenantClient,
    randomBytes: options.randomBytes ?? randomBytes,
    certificates: new LimitedCertificates(options.selfSigned ?? selfSigned),
    ignoredNamespaces: options.ignoredNamespaces ?? new IgnoredNamespacePatterns(),
  }
  return reconcileComponents<DynaKube, DynaKubeDependencies>({
    resource: DynaKubes,
    owned: OWNED,
    elsewhere: ELSEWHERE,
    onDemand: { kinds: ISTIO_KINDS, isWanted: hasIstio, missing: (cause) => new IstioMissingError(cause) },
    fieldManager: FIELD_MANAGER,
    components: COMPONENTS,
    dependencies,
    decorate,
    report: (summary, reporter) => report(summary, reporter, options.instancesIntervalMs),
  })
}

function report(
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
  reporter.update({ phase: failures.length > 0 ? 'Error' : isReady ? 'Running' : 'Deploying' })
  const isChanged = !isJsonEqual(before.status ?? {}, reporter.status)
  if (isChanged) reporter.update({ updatedTimestamp: formatTime(clock.now()) })
  const events = changeEvents({ before: before.status?.phase, after: reporter.status?.phase, changes })
  const usualMs = isChanged ? REQUEUE.changedMs : REQUEUE.unchangedMs
  const requeueAfterMs = Math.min(usualMs, instancesDueMs(reporter, summary, instancesIntervalMs) ?? usualMs)
  return { events, requeueAfterMs }
}

/** Objects in other namespaces and the Service of gateways never had a hash. */
function decorate(wanted: DesiredObject, dynakube: DynaKube): DesiredObject {
  const { namespace, name } = wanted.object.metadata
  const isGatewayService = wanted.resource === Services && name === namesOf(dynakube).activeGate
  return namespace !== dynakube.metadata.namespace || isGatewayService ? wanted : withTemplateHash(wanted)
}

/** The tenant responded with an error that counts as unavailable. */
const isRefusal = (error: Error): boolean => error instanceof TenantApiError && error.countsAsUnavailable
