/** How DynaKubes are reconciled: their components, and what their status says as a whole. */
import { ConfigMaps, DaemonSets, Deployments, Secrets, Services, StatefulSets } from '@reeve/kube'
import { formatTime, type ReconcileReport, type ReconcileSummary, type Reporter } from '@reeve/runtime'
import { type EngineReconcile, reconcileComponents } from '@reeve/runtime/components'
import { isJsonEqual } from '@reeve/runtime/engine'
import { IgnoredNamespacePatterns } from '../../api/ignored-namespaces.ts'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import { isTenantUnavailable, TenantApiError } from '../../tenant/client/errors.ts'
import { FIELD_MANAGER } from '../field-manager.ts'
import { LimitedCertificates } from '../generated/limited-certificates.ts'
import { selfSigned } from '../generated/self-signed.ts'
import { reportIgnoredNamespaces } from './components/injection/injection-conditions.ts'
import { ELSEWHERE } from './components/injection/namespace-objects.ts'
import { namespaceComponents } from './components/injection/namespaces.ts'
import { instancesComponent } from './components/instances.ts'
import { hasIstio, IstioMissingError, istioForApi } from './components/istio/istio.ts'
import { ISTIO_KINDS } from './components/istio/resources.ts'
import { tenantComponent } from './components/tenant/tenant.ts'
import { COMPONENTS } from './components.ts'
import { FORMER_CONTROLLER_CONDITION } from './condition-types.ts'
import type { DynaKubeDependencies, DynaKubeOptions } from './dependencies.ts'
import { EngineComponents } from './engine-component.ts'
import { StatusDraft } from './status-draft.ts'

export type { DynaKubeOptions } from './dependencies.ts'

/** The kinds that a DynaKube owns in every cluster. In a mesh there are those of Istio as well. */
export const OWNED = [ConfigMaps, Secrets, Services, DaemonSets, Deployments, StatefulSets] as const

/** When a DynaKube is reconciled again although nothing happened. */
export const REQUEUE = Object.freeze({ unchangedMs: 30 * 60_000, changedMs: 5 * 60_000, soonMs: 60_000 })

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
    certificates: new LimitedCertificates(options.selfSigned ?? selfSigned),
    ignoredNamespaces: options.ignoredNamespaces ?? new IgnoredNamespacePatterns(),
  }
  return reconcileComponents<DynaKube, DynaKubeDependencies>({
    resource: DynaKubes,
    owned: OWNED,
    elsewhere: ELSEWHERE,
    onDemand: { kinds: ISTIO_KINDS, isWanted: hasIstio, missing: (cause) => new IstioMissingError(cause) },
    fieldManager: FIELD_MANAGER,
    components: allComponents(),
    dependencies,
    report: (summary, reporter) => report(summary, reporter, dependencies.ignoredNamespaces),
  })
}

/** In a mesh that lets nothing out, the first call to the tenant would fail without a way that was opened before. */
function allComponents() {
  const wayToApi = new EngineComponents().of(istioForApi)
  const tenant = tenantComponent([wayToApi])
  const engine = new EngineComponents(tenant)
  const others = COMPONENTS.filter((component) => component !== istioForApi).map((component) => engine.of(component))
  return [wayToApi, tenant, ...others, ...namespaceComponents(engine), instancesComponent([tenant, ...others])]
}

function report(
  summary: ReconcileSummary<DynaKube>,
  reporter: Reporter<DynaKube>,
  patterns: IgnoredNamespacePatterns,
): ReconcileReport<DynaKube> {
  const { before, failures, isDeleting, isReady, clock } = summary
  if (isDeleting) return { keepsStatus: true }
  // The tenant will be back, and what was found out half is not worth a write. What failed before counts more.
  if (isTenantUnavailable(failures.find(isRefusal))) {
    return { keepsStatus: true, isHandled: true, requeueAfterMs: REQUEUE.soonMs }
  }
  const draft = new StatusDraft(reporter, clock)
  draft.remove(FORMER_CONTROLLER_CONDITION)
  reportIgnoredNamespaces(draft, patterns)
  draft.update({ phase: failures.length > 0 ? 'Error' : isReady ? 'Running' : 'Deploying' })
  const isChanged = !isJsonEqual(before.status ?? {}, draft.status)
  if (isChanged) draft.update({ updatedTimestamp: formatTime(clock.now()) })
  return { requeueAfterMs: isChanged ? REQUEUE.changedMs : REQUEUE.unchangedMs }
}

/** The tenant answered, and said no. Where callers never told one refusal from another, it is a plain failure. */
const isRefusal = (error: Error): boolean => error instanceof TenantApiError && error.countsAsUnavailable
