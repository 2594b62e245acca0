/** What follows from the ActiveGate part of a DynaKube. */
import { ownValue } from '@reeve/http'
import { featureFlags } from '../feature-flags.ts'
import type { DynaKube } from '../latest.ts'
import { hasExtensions, hasOtlpExporter, hasTelemetryIngest } from './feature-facts.ts'
import { hasProxy } from './proxy.ts'

/** What a gateway can do, and what its container calls that. */
export const CAPABILITY_ARGUMENTS: Readonly<Record<string, string>> = {
  routing: 'MSGrouter',
  'kubernetes-monitoring': 'kubernetes_monitoring',
  'metrics-ingest': 'metrics_ingest',
  'dynatrace-api': 'restInterface',
  debugging: 'debugging',
}

const EXTENSION_ARGUMENTS = ['extension_controller']
const INGEST_ARGUMENTS = ['log_analytics_collector', 'generic_ingest', 'otlp_ingest']

/** The service account of gateways. */
export const ACTIVE_GATE_SERVICE_ACCOUNT = 'dynatrace-activegate'

const capabilities = ({ spec }: DynaKube): readonly string[] => spec.activeGate?.capabilities ?? []

/** Whether a capability is enabled. */
export const hasCapability = (dynakube: DynaKube, capability: string): boolean =>
  capabilities(dynakube).includes(capability)

/** Whether the gateway watches the cluster. */
export const hasKubernetesMonitoring = (dynakube: DynaKube): boolean => hasCapability(dynakube, 'kubernetes-monitoring')

/** Whether gateways run: for a capability or for extensions. */
export const hasActiveGate = (dynakube: DynaKube): boolean =>
  capabilities(dynakube).length > 0 || hasExtensions(dynakube)

/** How many gateways run. One that only serves extensions has a single replica. */
export const activeGateReplicas = (dynakube: DynaKube): number =>
  capabilities(dynakube).length === 0 ? 1 : (dynakube.spec.activeGate?.replicas ?? 1)

/** The arguments of the container: capabilities in the user's order, then those that features add. */
export function capabilityArguments(dynakube: DynaKube): readonly string[] {
  return [
    ...capabilities(dynakube).flatMap((capability) => ownValue(CAPABILITY_ARGUMENTS, capability) ?? []),
    ...(hasExtensions(dynakube) ? EXTENSION_ARGUMENTS : []),
    ...(hasTelemetryIngest(dynakube) || hasOtlpExporter(dynakube) ? INGEST_ARGUMENTS : []),
  ]
}

/** The Secret with the server certificate; empty when gateways have none. */
export function activeGateTlsSecretName(dynakube: DynaKube): string {
  const automatic = featureFlags(dynakube).automaticTlsCertificate ? automaticTlsSecretName(dynakube) : ''
  return dynakube.spec.activeGate?.tlsSecretName || automatic
}

/** The Secret of the certificate that the operator makes. */
export const automaticTlsSecretName = ({ metadata }: DynaKube): string => `${metadata.name}-activegate-tls-secret`

/** Whether clients need a certificate to trust the gateway. */
export const hasActiveGateCertificate = (dynakube: DynaKube): boolean =>
  hasActiveGate(dynakube) && activeGateTlsSecretName(dynakube) !== ''

/** Whether the OpenTelemetry collector talks to the tenant itself and needs the user's certificates for that. */
export const collectorNeedsTrustedCertificates = (dynakube: DynaKube): boolean =>
  !hasActiveGate(dynakube) && Boolean(dynakube.spec.trustedCAs)

/** The public certificate in a TLS Secret, by its decoded data: `tls.crt`, else what older versions called it. */
export const certificateOf = (data: Readonly<Record<string, string>>): string | undefined =>
  data['tls.crt'] ?? data['server.crt']

/** Whether gateways use the proxy. */
export const activeGateUsesProxy = (dynakube: DynaKube): boolean =>
  hasProxy(dynakube) && hasActiveGate(dynakube) && !featureFlags(dynakube).activeGateIgnoreProxy

/** Whether settings of the gateway are kept in a Secret. */
export const needsCustomProperties = (dynakube: DynaKube): boolean =>
  dynakube.spec.activeGate?.customProperties !== undefined ||
  (hasProxy(dynakube) && featureFlags(dynakube).noProxy !== '')

/** The Secret with the settings of the gateway. */
export function customPropertiesSecretName(dynakube: DynaKube): string {
  const owner = hasKubernetesMonitoring(dynakube) ? 'kubernetes-monitoring' : 'activegate'
  return `${dynakube.metadata.name}-${owner}-custom-properties`
}
