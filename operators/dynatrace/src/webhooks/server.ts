/** The webhook server as one value: routes, certificates, probes and metrics in a manager. */
import { join } from 'node:path'
import type { Clock } from '@reeve/http'
import type { KubeClient } from '@reeve/kube'
import { type Logger, silentLogger } from '@reeve/runtime'
import { FileCertificates } from '@reeve/runtime/certificates'
import { ApiEventRecorder } from '@reeve/runtime/events'
import { createManager, type Manager, type MetricsAddress, type ServerAddress } from '@reeve/runtime/manager'
import type { MetricsRegistry } from '@reeve/runtime/metrics'
import { WebhookRouter, WebhookServer } from '@reeve/runtime/webhooks'
import manifest from '../../package.json' with { type: 'json' }
import { IgnoredNamespacePatterns } from '../api/ignored-namespaces.ts'
import type { Modules } from '../api/validation/modules.ts'
import { WEBHOOK_NAME } from '../installed-names.ts'
import { type CertificateFiles, CertificateFilesFromSecret, type CertificateFilesOptions } from './certificate-files.ts'
import { clusterLookups } from './cluster-lookups.ts'
import { convertRoute } from './convert.ts'
import { labelNamespaceRoute } from './namespaces/label-namespace.ts'
import { injectRoute } from './pods/inject.ts'
import { WorkloadLookup } from './pods/workload-lookup.ts'
import { validationRoutes } from './validate.ts'

/** Options of {@link createWebhookServer}. */
export interface WebhookServerSetup {
  readonly client: KubeClient
  /** The operator's own namespace. */
  readonly namespace: string
  /** What was installed. */
  readonly modules: Modules
  readonly address: ServerAddress
  /**
   * The certificate: copied into the files from the Secret that the operator manages, or provided by another tool, such
   * as a mounted Secret of cert-manager or of the Operator Lifecycle Manager.
   */
  readonly certificates: {
    readonly files: CertificateFiles
    readonly areProvided: boolean
    readonly timing?: Pick<CertificateFilesOptions, 'recheckMs' | 'settleMs'>
  }
  /** What is injected into pods. */
  readonly injection: {
    /** The image of this process, which init containers run. */
    readonly image: string
    readonly isOpenShift: boolean
    /** The Operator Lifecycle Manager registered the webhooks: pods of all namespaces come. */
    readonly isManagedByOlm: boolean
    /** Names this replica in events. @default that of the Deployment */
    readonly podName?: string
  }
  readonly healthAddress?: ServerAddress
  readonly metricsAddress?: MetricsAddress
  /** How long to keep serving after the stop signal. @default 0 */
  readonly lameDuckMs?: number
  readonly metrics?: MetricsRegistry
  readonly logger?: Logger
  readonly clock?: Clock
}

/** The server before it runs. */
export interface DynatraceWebhooks {
  readonly manager: Manager
  readonly server: WebhookServer
}

/** Legacy probes come over TLS, to this path. */
const LIVENESS_PATH = '/livez'

/** How often the files are read. */
const FILE_INTERVAL_MS = 2_000

/** How long to wait for the first certificate before the process ends, and is started again. */
const CERTIFICATE_TIMEOUT_MS = 5 * 60_000

/**
 * Puts the webhook server together; `manager.run(signal)` starts it. It keeps no state, so that any number of replicas
 * may run.
 *
 * @example
 * const { manager } = createWebhookServer({ client, namespace, modules, address: { port: 8443 }, certificates })
 * await manager.run(signal)
 */
export function createWebhookServer(setup: WebhookServerSetup): DynatraceWebhooks {
  const { client, namespace, modules, address, certificates, injection, clock, metrics, lameDuckMs = 0 } = setup
  const logger = setup.logger ?? silentLogger
  const shared = { logger, ...(clock && { clock }), ...(metrics && { metrics }) }
  const ignoredNamespaces = new IgnoredNamespacePatterns()
  const lookups = clusterLookups({ client, modules, ignoredNamespaces, logger })
  const { image, isOpenShift, isManagedByOlm, podName = WEBHOOK_NAME } = injection
  const events = new ApiEventRecorder(client, { component: WEBHOOK_NAME, instance: podName, ...shared })
  const settings = { image, isOpenShift, operatorVersion: manifest.version, hasCsiDriver: modules.csiDriver }
  const workloads = new WorkloadLookup(client, shared)
  const routes = [
    labelNamespaceRoute({ client, namespace, ignoredNamespaces, logger }),
    injectRoute({ client, namespace, settings, isManagedByOlm, events, workloads, ...shared }),
    ...validationRoutes(lookups, logger),
    convertRoute(),
  ]
  const { files, areProvided, timing } = certificates
  const source = new FileCertificates({
    certificateFile: join(files.directory, files.certificate),
    privateKeyFile: join(files.directory, files.privateKey),
    intervalMs: FILE_INTERVAL_MS,
    ...shared,
  })
  const server = new WebhookServer(new WebhookRouter(routes, shared), {
    ...address,
    ...shared,
    certificates: source,
    lameDuckMs,
    livenessPath: LIVENESS_PATH,
  })
  const manager = createManager({
    client,
    startTimeoutMs: CERTIFICATE_TIMEOUT_MS,
    ...(setup.healthAddress && { healthAddress: setup.healthAddress }),
    ...(setup.metricsAddress && { metricsAddress: setup.metricsAddress }),
    ...shared,
  })
  if (!areProvided) manager.add(new CertificateFilesFromSecret(client, namespace, files, { ...shared, ...timing }))
  manager.add(events, source, server)
  return { manager, server }
}
