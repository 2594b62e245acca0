/** The WebApp operator as one value: controller, webhooks, certificates and election in a manager. */
import type { Clock, KubeClient } from '@reeve/kube'
import {
  ApiEventRecorder,
  type BackoffOptions,
  Cache,
  type CacheOptions,
  CertificateManager,
  type CertificateSource,
  type Controller,
  controller,
  createManager,
  FileCertificates,
  keepOwnFields,
  type LeaderElectionOptions,
  type Logger,
  type Manager,
  type MetricsRegistry,
  type ReconcileRecord,
  type ServerAddress,
  WebhookRouter,
  WebhookServer,
} from '@reeve/runtime'
import { type WebApp, WebApps } from './api/webapp.ts'
import { OWNED, webAppReconcile } from './reconcile.ts'
import { FIELD_MANAGER } from './render/labels.ts'
import { webAppWebhooks } from './webhooks/webhooks.ts'

/** Where the webhook server listens and how it proves who it is. */
export interface WebhookOptions {
  readonly address: ServerAddress
  /** The certificate: issued by the operator itself and kept in a Secret, or mounted as files. */
  readonly certificate:
    | { readonly secret: { readonly namespace: string; readonly name: string }; readonly hosts: readonly string[] }
    | { readonly directory: string }
  /** The Mutating- and ValidatingWebhookConfiguration that must trust an issued certificate. */
  readonly configurationName?: string
  /**
   * How long to go on serving after the stop signal: in a cluster, endpoints are taken out of a Service a moment after
   * their pod is told to stop.
   * @default 0
   */
  readonly lameDuckMs?: number
}

/** Options of {@link createWebAppOperator}. */
export interface WebAppOperatorOptions {
  readonly client: KubeClient
  /** Watch these namespaces only. @default all of them */
  readonly namespaces?: readonly string[]
  /** How many WebApps are worked on at the same time. @default 10 */
  readonly concurrency?: number
  /** Without it this process leads from the start. */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'clock' | 'logger' | 'metrics'>
  readonly webhook?: WebhookOptions
  readonly healthAddress?: ServerAddress
  readonly metricsAddress?: ServerAddress
  /** Who reports events: the pod's name. */
  readonly instance?: string
  readonly metrics?: MetricsRegistry
  readonly logger?: Logger
  readonly clock?: Clock
  readonly random?: () => number
  /** Delays after failures. @default 1 s, 2 s, 4 s … 5 min */
  readonly backoff?: BackoffOptions
  readonly cacheTiming?: CacheOptions['timing']
  /** Told of every reconcile after its end. */
  readonly onReconcile?: (record: ReconcileRecord) => void
}

/** The operator before it runs. */
export interface WebAppOperator {
  readonly manager: Manager<Cache>
  readonly cache: Cache
  readonly controller: Controller<WebApp>
  readonly webhooks: WebhookServer | undefined
  /** What issues the webhooks' certificate, unless it comes from files. */
  readonly certificates: CertificateManager | undefined
}

/**
 * Puts the operator together; `manager.run(signal)` starts it.
 *
 * @example
 * const { manager } = createWebAppOperator({ client })
 * await manager.run(signal)
 */
export function createWebAppOperator(options: WebAppOperatorOptions): WebAppOperator {
  const { client, clock, logger, metrics, random } = options
  const shared = {
    ...(clock && { clock }),
    ...(logger && { logger }),
    ...(metrics && { metrics }),
    ...(random && { random }),
  }
  const cache = new Cache(client, { ...shared, ...(options.cacheTiming && { timing: options.cacheTiming }) })
  const manager = createManager<Cache>({ ...managerOptions(options), client, cache, ...shared })
  // Not fenced: the last events of a leader are sent after it has given the lease back.
  const events = new ApiEventRecorder(client, {
    ...shared,
    component: FIELD_MANAGER,
    ...(options.instance !== undefined && { instance: options.instance }),
  })
  const webhooks = options.webhook && webhookParts(options, options.webhook, shared)
  manager.add(events, ...(webhooks?.runnables ?? []))
  const webapps = controller(
    {
      name: 'webapp',
      for: WebApps,
      owns: OWNED.map((resource) => ({ resource, transform: keepOwn })),
      ...(options.namespaces && { namespaces: options.namespaces }),
      reconcile: webAppReconcile(),
      concurrency: options.concurrency ?? 10,
      ...(options.backoff && { backoff: options.backoff }),
      ...(options.onReconcile && { onReconcile: options.onReconcile }),
    },
    { cache, client: manager.client, events, ...shared },
  )
  manager.add(webapps)
  manager.readiness.add('cache', () => {
    if (!cache.health().isHealthy) throw new Error('an informer is cut off from the API server')
  })
  if (webhooks?.certificates) manager.readiness.add('certificates', () => webhooks.certificates?.checkHealth())
  return { manager, cache, controller: webapps, webhooks: webhooks?.server, certificates: webhooks?.certificates }
}

/** The cache keeps which fields are the operator's own: that is how drift is told from other people's fields. */
const keepOwn = keepOwnFields(FIELD_MANAGER)

function managerOptions({ leaderElection, healthAddress, metricsAddress }: WebAppOperatorOptions) {
  return {
    ...(leaderElection && { leaderElection }),
    ...(healthAddress && { healthAddress }),
    ...(metricsAddress && { metricsAddress }),
  }
}

function webhookParts(
  { client }: WebAppOperatorOptions,
  { address, certificate, configurationName, lameDuckMs = 0 }: WebhookOptions,
  shared: { readonly clock?: Clock; readonly logger?: Logger; readonly metrics?: MetricsRegistry },
) {
  const router = new WebhookRouter(webAppWebhooks(), shared)
  const serve = (source: CertificateSource) =>
    new WebhookServer(router, { ...address, ...shared, certificates: source, lameDuckMs })
  if ('directory' in certificate) {
    const files = new FileCertificates({ ...filesIn(certificate.directory), ...shared })
    const server = serve(files)
    return { server, certificates: undefined, runnables: [files, server] }
  }
  const names = configurationName === undefined ? [] : [configurationName]
  const inject = { mutating: names, validating: names }
  const certificates = new CertificateManager(client, { ...certificate, inject, ...shared })
  const server = serve(certificates)
  return { server, certificates, runnables: [certificates, server] }
}

function filesIn(directory: string) {
  return { certificateFile: `${directory}/tls.crt`, privateKeyFile: `${directory}/tls.key` }
}
