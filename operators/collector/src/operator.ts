/** The Collector operator: one Helm release per Collector, in the namespace of its tenant. */
import { crdManifest } from '@reeve/crd'
import type { ChartResolver } from '@reeve/helm'
import { HELM_FIELD_MANAGER } from '@reeve/helm'
import { type KubeClient, type Namespace, Namespaces } from '@reeve/kube'
import type { CreatedOperator, Operator, OperatorOptions } from '@reeve/runtime'
import { defineOperator } from '@reeve/runtime'
import { annotationsChanged, generationChanged, type Predicate } from '@reeve/runtime/controller'
import { type OperatorView, type RbacOptions, type RbacRoles, watch, withDependencies } from '@reeve/runtime/operator'
import { type Collector, CollectorCrd, Collectors } from './api/collector.ts'
import { COLLECTOR_INDEXERS, collectorsOfNamespace, rivals } from './cached-collectors.ts'
import { leftovers } from './components/leftovers.ts'
import { plan } from './components/plan.ts'
import { release } from './components/release.ts'
import { tenantNamespace } from './components/tenant-namespace.ts'
import { ObservedReleases, releasesView } from './console/releases-view.ts'
import { FIELD_MANAGER } from './field-manager.ts'
import { collectorMetrics } from './metrics.ts'
import { operatorRules } from './operator-rules.ts'
import type { CollectorDependencies, ReleaseCommands } from './release/collector-context.ts'
import { HelmTurns } from './release/helm-turns.ts'
import { ReleaseInspector } from './release/inspect-release.ts'
import { liveNamespace } from './release/observe-release.ts'
import { ReleaseRecords } from './release/release-records.ts'
import { collectorReport } from './report.ts'
import type { CollectorSettings } from './settings.ts'
import type { TenancyRules } from './tenancy/target-namespace.ts'
import { validationRules } from './validate-collector.ts'
import { collectorWebhook } from './webhook.ts'

/** What the operator is made with. */
export interface CollectorOperatorOptions extends Omit<OperatorOptions, 'namespaces'> {
  readonly helm: ReleaseCommands
  readonly charts: ChartResolver
  readonly settings: CollectorSettings
  /** Where the operator itself runs: no Collector may target it. @default unknown */
  readonly operatorNamespace?: string | undefined
  /**
   * Collectors in these namespaces may target any namespace of a tenant, and have it created; all others their own, and
   * those that accept them. @default the operator's own
   */
  readonly adminNamespaces?: readonly string[] | undefined
  /** Reconcile the Collectors of this namespace only: several operators may share a cluster. @default all */
  readonly namespace?: string | undefined
  /** Deadline of one helm command. Workloads are not waited for, hooks are. @default 120_000 */
  readonly helmTimeoutMs?: number
  /**
   * How long a pending revision is not touched: a helm process outlives an operator that is killed.
   * @default the deadline of a helm command and 10 s
   */
  readonly staleAfterMs?: number
  /**
   * How often a settled release is checked for manual changes, a new chart and new values: nothing but Collectors and
   * Namespaces is watched. @default 60_000
   */
  readonly checkIntervalMs?: number
}

/** The operator before it runs. */
export type CollectorOperator = CreatedOperator<readonly [Collector]>

const DEFAULT_HELM_TIMEOUT_MS = 120_000
const DEFAULT_CHECK_INTERVAL_MS = 60_000

/** From the deadline of a helm command to the certainty that it has ended. */
const STALE_MARGIN_MS = 10_000

/** Keeps a Collector until its releases are uninstalled. */
const FINALIZER = 'example.com/collector-release'

/** Its own source and that of rivals are the same selection, so that they share an informer. */
const COLLECTORS = { resource: Collectors, indexers: COLLECTOR_INDEXERS, predicate: generationChanged }

/**
 * Puts the operator together; `manager.run(signal)` starts it. The caller closes the helm driver.
 *
 * @example
 * const { manager } = createCollectorOperator({ client, helm, charts, settings })
 * await manager.run(signal)
 */
export function createCollectorOperator(options: CollectorOperatorOptions): CollectorOperator {
  const { helm, charts, settings, operatorNamespace, adminNamespaces, namespace, ...common } = options
  const { helmTimeoutMs = DEFAULT_HELM_TIMEOUT_MS, checkIntervalMs = DEFAULT_CHECK_INTERVAL_MS } = options
  const tenancy = tenancyOf(options)
  const created: { operator?: CollectorOperator } = {}
  const observed = options.observer && new ObservedReleases()
  const operator = describe(settings, {
    helm,
    charts,
    settings,
    tenancy,
    metrics: collectorMetrics(options.metrics, () => created.operator?.cache.list(Collectors) ?? []),
    records: new ReleaseRecords(),
    turns: new HelmTurns(),
    inspector: new ReleaseInspector({ fieldManager: HELM_FIELD_MANAGER, checkIntervalMs }),
    checkIntervalMs,
    helmTimeoutMs,
    staleAfterMs: options.staleAfterMs ?? helmTimeoutMs + STALE_MARGIN_MS,
    client: options.client,
    onObserved: observed && ((...observation) => observed.note(...observation)),
    views: observed ? [releasesView(observed)] : [],
  })
  created.operator = operator.create({ ...common, ...(namespace !== undefined && { namespaces: [namespace] }) })
  return created.operator
}

/**
 * The roles that an operator with these settings needs. Everything else it does as accounts of tenants.
 *
 * @example
 * const { clusterRole, roles } = collectorRbac(settings, { namespace: 'collector-operator' })
 */
export function collectorRbac(settings: CollectorSettings, options: RbacOptions = {}): RbacRoles {
  return describe(settings, undefined).rbac(options)
}

/** @param parts what the operator works with; not needed for its rights */
function describe(
  settings: CollectorSettings,
  parts: (CollectorDependencies & { readonly client: KubeClient; readonly views: readonly OperatorView[] }) | undefined,
): Operator<readonly [Collector]> {
  // Rights follow from what is declared: no component runs without its dependencies.
  const dependencies = parts as CollectorDependencies
  const { helmTimeoutMs = DEFAULT_HELM_TIMEOUT_MS } = parts ?? {}
  return defineOperator<readonly [Collector]>({
    name: FIELD_MANAGER,
    controllers: [
      {
        for: COLLECTORS,
        watches: [
          watch({ ...COLLECTORS, map: rivals }),
          watch({ resource: Namespaces, predicate: acceptanceChanged, map: collectorsOfNamespace }),
        ],
        components: withDependencies(dependencies, [plan, tenantNamespace, release, leftovers]),
        ...(parts && { report: collectorReport(parts) }),
        finalizer: FINALIZER,
        concurrency: 10,
        // An uninstall and what follows it, or an install after a recovery.
        timeoutMs: 2 * helmTimeoutMs + 60_000,
      },
    ],
    rules: operatorRules(settings),
    crds: [crdManifest(CollectorCrd)],
    views: parts?.views ?? [],
    webhooks: parts === undefined ? [] : [webhook(parts)],
  })
}

function webhook({ settings, tenancy, client }: CollectorDependencies & { readonly client: KubeClient }) {
  const rules = { ...validationRules(settings), tenancy }
  // Reads from the API server: a replica that does not lead, whose cache is empty, responds to reviews as well.
  return collectorWebhook(rules, (name, signal) => liveNamespace(name, { client, signal }))
}

/** Whether an update of a Namespace may change which Collectors it accepts, or starts its deletion. */
const acceptanceChanged: Predicate<Namespace> = (change) =>
  annotationsChanged(change) ||
  (change.type === 'modified' &&
    change.previous.metadata.deletionTimestamp !== change.object.metadata.deletionTimestamp)

function tenancyOf({ operatorNamespace, adminNamespaces, settings }: CollectorOperatorOptions): TenancyRules {
  const own = operatorNamespace === undefined ? [] : [operatorNamespace]
  return {
    operatorNamespace,
    adminNamespaces: adminNamespaces ?? own,
    protectedNamespaces: settings.protectedNamespaces ?? [],
  }
}
