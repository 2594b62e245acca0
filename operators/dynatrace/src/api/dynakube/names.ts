/** Names of the objects that belong to a DynaKube. */
import type { DynaKube } from '../latest.ts'

/** Names derived from the name of a DynaKube. */
export interface DynaKubeNames {
  readonly pullSecret: string
  readonly oneAgent: string
  readonly oneAgentTenantSecret: string
  readonly oneAgentConnectionInfo: string
  /** The StatefulSet and the Service. */
  readonly activeGate: string
  readonly activeGateTenantSecret: string
  readonly activeGateAuthTokenSecret: string
  readonly activeGateConnectionInfo: string
  readonly proxySecret: string
  readonly deploymentMetadata: string
  readonly logMonitoring: string
  readonly logMonitoringConfig: string
  readonly nodeConfigCollector: string
  readonly kspmTokenSecret: string
  /** The StatefulSet and the Service. */
  readonly extensionController: string
  /** Not only of the controller, hence the plural. */
  readonly extensionsTokenSecret: string
  readonly otelCollector: string
  readonly otelCollectorConfig: string
  readonly bootstrapperConfig: string
  readonly bootstrapperCerts: string
  readonly otlpExporterConfig: string
  readonly otlpExporterCerts: string
  /** A StatefulSet and a Service of earlier releases, to be removed. */
  readonly legacyExtensionController: string
  /** A Secret of earlier releases, to be removed. */
  readonly legacyExtensionControllerTls: string
}

/** Names that are the same for every DynaKube. */
export const FIXED_NAMES = {
  otlpApiEndpoint: 'dynatrace-otlp-api-endpoint',
  /** In the namespaces of injected pods. */
  bootstrapperConfig: 'dynatrace-bootstrapper-config',
  bootstrapperCerts: 'dynatrace-bootstrapper-certs',
  otlpExporterConfig: 'dynatrace-otlp-exporter-config',
  otlpExporterCerts: 'dynatrace-otlp-exporter-certs',
  sqlExecutorServiceAccount: 'dynatrace-sql-ext-exec',
} as const

/** The name of the port of the extension controller. */
export const EXTENSION_CONTROLLER_PORT = {
  name: 'dynatrace-extension-controller-collector-com',
  port: 14599,
} as const

/** Names of what the operator makes for a DynaKube. */
export function namesOf(dynakube: DynaKube): DynaKubeNames {
  const name = nameOf(dynakube)
  return {
    pullSecret: `${name}-pull-secret`,
    oneAgent: `${name}-oneagent`,
    oneAgentTenantSecret: `${name}-oneagent-tenant-secret`,
    oneAgentConnectionInfo: `${name}-oneagent-connection-info`,
    activeGate: `${name}-activegate`,
    activeGateTenantSecret: `${name}-activegate-tenant-secret`,
    activeGateAuthTokenSecret: `${name}-activegate-authtoken-secret`,
    activeGateConnectionInfo: `${name}-activegate-connection-info`,
    proxySecret: `${name}-internal-proxy`,
    deploymentMetadata: `${name}-deployment-metadata`,
    logMonitoring: `${name}-logmonitoring`,
    logMonitoringConfig: `${name}-logmonitoring-config`,
    nodeConfigCollector: `${name}-node-config-collector`,
    kspmTokenSecret: `${name}-kspm-token`,
    extensionController: `${name}-extension-controller`,
    extensionsTokenSecret: `${name}-extensions-token`,
    otelCollector: `${name}-otel-collector`,
    otelCollectorConfig: `${name}-telemetry-collector-config`,
    bootstrapperConfig: `${name}-bootstrapper-config`,
    bootstrapperCerts: `${name}-bootstrapper-certs`,
    otlpExporterConfig: `${name}-otlp-exporter-config`,
    otlpExporterCerts: `${name}-otlp-exporter-certs`,
    legacyExtensionController: `${name}-extensions-controller`,
    legacyExtensionControllerTls: `${name}-extensions-controller-tls`,
  }
}

/** The Secret with the tokens of the tenant. */
export const tokensSecretName = (dynakube: DynaKube): string => dynakube.spec.tokens || nameOf(dynakube)

/** Pull secrets of pods: the generated one, then the user's. Once each: a list with one twice cannot be applied. */
export function imagePullSecretNames(dynakube: DynaKube): readonly string[] {
  const { customPullSecret } = dynakube.spec
  return [...new Set([namesOf(dynakube).pullSecret, ...(customPullSecret ? [customPullSecret] : [])])]
}

/** The one pull secret that `troubleshoot` checks. */
export const singlePullSecretName = (dynakube: DynaKube): string =>
  dynakube.spec.customPullSecret || namesOf(dynakube).pullSecret

/** The Secret with the certificate of the extension controller. */
export const extensionControllerTlsSecretName = (dynakube: DynaKube): string =>
  dynakube.spec.templates?.extensionExecutionController?.tlsRefName || `${namesOf(dynakube).extensionController}-tls`

/** Where the extension controller is reached. */
export const extensionControllerHost = (dynakube: DynaKube): string =>
  `${namesOf(dynakube).extensionController}.${dynakube.metadata.namespace ?? ''}`

/** The Deployment that queries a database. */
export const databaseExecutorName = (dynakube: DynaKube, databaseId: string): string =>
  `${nameOf(dynakube)}-sql-ext-exec-${databaseId}`

/** The Service that receives telemetry. */
export const telemetryIngestServiceName = (dynakube: DynaKube): string =>
  dynakube.spec.telemetryIngest?.serviceName || `${nameOf(dynakube)}-telemetry-ingest`

const nameOf = ({ metadata }: DynaKube): string => metadata.name ?? ''
