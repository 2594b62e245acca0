/** The Collector operator as one value: controller, events and election in a manager. */
import type { ChartResolver } from '@reeve/helm'
import { HELM_FIELD_MANAGER, releaseSelector } from '@reeve/helm'
import {
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Namespace,
  Namespaces,
  type Resource,
  Secrets,
} from '@reeve/kube'
import type { Cache } from '@reeve/runtime/cache'
import type { CertificateManager } from '@reeve/runtime/certificates'
import {
  annotationsChanged,
  type BackoffOptions,
  type Controller,
  controller,
  generationChanged,
  type Predicate,
  type ReconcileRecord,
} from '@reeve/runtime/controller'
import type { Manager } from '@reeve/runtime/manager'
import { addWebhooks, type OperatorFrameOptions, operatorFrame, type WebhookOptions } from '@reeve/runtime/operator'
import type { WebhookServer } from '@reeve/runtime/webhooks'
import { type Collector, Collectors } from './api/collector.ts'
import { keepDriftFields } from './drift/field-drift.ts'
import { collectorMetrics } from './metrics.ts'
import {
  COLLECTOR_INDEXERS,
  collectorsOfNamespace,
  collectorsOfObject,
  collectorsOfRecord,
  RECORD_INDEXERS,
  rivals,
} from './reconcile/cached-collectors.ts'
import type { ReleaseCommands } from './reconcile/collector-context.ts'
import { FIELD_MANAGER } from './reconcile/ensure-namespace.ts'
import { MADE_BY_HELM, ReleaseInspector, WATCHED } from './reconcile/inspect-release.ts'
import { collectorReconcile } from './reconcile/reconcile.ts'
import type { CollectorSettings } from './settings.ts'
import type { TenancyRules } from './tenancy/target-namespace.ts'
import { validationRules } from './validate-collector.ts'
import { collectorWebhook } from './webhook.ts'

/** Options of {@link createCollectorOperator}. */
export interface CollectorOperatorOptions extends OperatorFrameOptions {
  readonly helm: ReleaseCommands
  readonly charts: ChartResolver
  readonly settings: CollectorSettings
  /** Where the operator itself runs: no Collector may target it. @default not known */
  readonly operatorNamespace?: string
  /**
   * Collectors in these namespaces may target any namespace of a tenant, and have it created; all others their own, and
   * those that accept them. @default the operator's own
   */
  readonly adminNamespaces?: readonly string[]
  /** Look after the Collectors of this namespace only: several operators may share a cluster. @default all */
  readonly namespace?: string
  /** How many Collectors are worked on at the same time. @default 10 */
  readonly concurrency?: number
  /** Deadline of one helm command. Workloads are not waited for, hooks are. @default 120_000 */
  readonly helmTimeoutMs?: number
  /**
   * How long a pending revision is left alone: a helm outlives an operator that is killed, and goes on to its end.
   * @default the deadline of a helm command and 10 s
   */
  readonly staleAfterMs?: number
  /**
   * How often a settled Collector is looked at: chart sources, Secrets, and objects other than workloads and Services are
   * not watched. @default 300_000
   */
  readonly resyncMs?: number
  /** Without it no webhook is served. */
  readonly webhook?: WebhookOptions
  /** Delays after failures of the API. @default 1 s, 2 s, 4 s … 5 min */
  readonly backoff?: BackoffOptions
  /** Told of every reconcile after its end. */
  readonly onReconcile?: (record: ReconcileRecord) => void
}

/** The operator before it runs. */
export interface CollectorOperator {
  readonly manager: Manager<Cache>
  readonly cache: Cache
  readonly controller: Controller<Collector>
  readonly webhook: WebhookServer | undefined
  /** What issues the certificate of the webhook, unless it comes from files. */
  readonly certificates: CertificateManager | undefined
}

const DEFAULT_HELM_TIMEOUT_MS = 120_000
const DEFAULT_RESYNC_MS = 300_000

/** From the end of a helm command to the certainty that it is over. */
const STALE_MARGIN_MS = 10_000

/**
 * Puts the operator together; `manager.run(signal)` starts it. The helm driver stays the caller's to close.
 *
 * @example
 * const { manager } = createCollectorOperator({ client, helm, charts, settings })
 * await manager.run(signal)
 */
export function createCollectorOperator(options: CollectorOperatorOptions): CollectorOperator {
  const { helmTimeoutMs = DEFAULT_HELM_TIMEOUT_MS, resyncMs = DEFAULT_RESYNC_MS } = options
  const frame = operatorFrame(FIELD_MANAGER, options)
  const { manager, cache, environment } = frame
  const tenancy = tenancyOf(options)
  const rules = { ...validationRules(options.settings), tenancy }
  // Asked of the server: a replica that does not lead, whose cache is empty, answers as well.
  const route = collectorWebhook(rules, (name, signal) => findNamespace(options.client, name, signal))
  const webhook = options.webhook && addWebhooks(frame, options.client, [route], options.webhook)
  const reconcile = collectorReconcile({
    helm: options.helm,
    charts: options.charts,
    settings: options.settings,
    tenancy,
    metrics: collectorMetrics(options.metrics, () => cache.list(Collectors)),
    inspector: new ReleaseInspector({ fieldManager: HELM_FIELD_MANAGER, resyncMs }),
    resyncMs,
    helmTimeoutMs,
    staleAfterMs: options.staleAfterMs ?? helmTimeoutMs + STALE_MARGIN_MS,
  })
  // One selection, so that the controller's own source and the one of rivals share an informer.
  const collectors = {
    resource: Collectors,
    indexers: COLLECTOR_INDEXERS,
    predicate: generationChanged,
    ...(options.namespace !== undefined && { namespace: options.namespace }),
  }
  const collectorController = controller(
    {
      name: 'collector',
      for: collectors,
      watches: [
        { ...collectors, map: rivals },
        { resource: Namespaces, predicate: optInChanged, map: collectorsOfNamespace },
        { resource: Secrets, labelSelector: releaseSelector(), indexers: RECORD_INDEXERS, map: collectorsOfRecord },
        ...WATCHED.map((resource) => ({
          // The mapper looks at metadata only, which every object has.
          resource: resource as Resource<KubeObject>,
          labelSelector: MADE_BY_HELM,
          transform: keepDriftFields(HELM_FIELD_MANAGER),
          map: collectorsOfObject,
        })),
      ],
      reconcile,
      concurrency: options.concurrency ?? 10,
      // An uninstall and what follows it, or an install after a recovery.
      timeoutMs: 2 * helmTimeoutMs + 60_000,
      ...(options.backoff && { backoff: options.backoff }),
      ...(options.onReconcile && { onReconcile: options.onReconcile }),
    },
    environment,
  )
  manager.add(collectorController)
  const { server, certificates } = webhook ?? {}
  return { manager, cache, controller: collectorController, webhook: server, certificates }
}

/** Whether an update of a Namespace may change who is accepted, or begins its end. */
const optInChanged: Predicate<Namespace> = (change) =>
  annotationsChanged(change) ||
  (change.type === 'updated' && change.previous.metadata.deletionTimestamp !== change.object.metadata.deletionTimestamp)

function tenancyOf({ operatorNamespace, adminNamespaces, settings }: CollectorOperatorOptions): TenancyRules {
  const own = operatorNamespace === undefined ? [] : [operatorNamespace]
  return {
    operatorNamespace,
    adminNamespaces: adminNamespaces ?? own,
    protectedNamespaces: settings.protectedNamespaces ?? [],
  }
}

async function findNamespace(client: KubeClient, name: string, signal: AbortSignal): Promise<Namespace | undefined> {
  try {
    return await client.get(Namespaces, { name }, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
