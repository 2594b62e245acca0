/** The WebApp operator as one value: controller, webhooks, certificates and election in a manager. */
import {
  type BackoffOptions,
  type Cache,
  CertificateManager,
  type CertificateSource,
  type Controller,
  controller,
  FileCertificates,
  keepOwnFields,
  type Manager,
  type OperatorFrameOptions,
  operatorFrame,
  type ReconcileRecord,
  type ServerAddress,
  type SharedParts,
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
export interface WebAppOperatorOptions extends OperatorFrameOptions {
  /** Watch these namespaces only. @default all of them */
  readonly namespaces?: readonly string[]
  /** How many WebApps are worked on at the same time. @default 10 */
  readonly concurrency?: number
  readonly webhook?: WebhookOptions
  /** Delays after failures. @default 1 s, 2 s, 4 s … 5 min */
  readonly backoff?: BackoffOptions
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
  const { manager, cache, shared, environment } = operatorFrame(FIELD_MANAGER, options)
  const webhooks = options.webhook && webhookParts(options, options.webhook, shared)
  manager.add(...(webhooks?.runnables ?? []))
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
    environment,
  )
  manager.add(webapps)
  if (webhooks?.certificates) manager.readiness.add('certificates', () => webhooks.certificates?.checkHealth())
  return { manager, cache, controller: webapps, webhooks: webhooks?.server, certificates: webhooks?.certificates }
}

/** The cache keeps which fields are the operator's own: that is how drift is told from other people's fields. */
const keepOwn = keepOwnFields(FIELD_MANAGER)

function webhookParts(
  { client }: WebAppOperatorOptions,
  { address, certificate, configurationName, lameDuckMs = 0 }: WebhookOptions,
  shared: SharedParts,
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
