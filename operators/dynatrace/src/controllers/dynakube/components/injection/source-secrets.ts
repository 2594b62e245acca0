/**
 * What pods get injected with, as Secrets in the namespace of the operator. They are copied into the namespaces of the
 * pods, by the operator and, for a namespace that is seconds old, by the webhook.
 */
import { Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasActiveGateCertificate } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasOtlpExporter } from '../../../../api/dynakube/feature-facts.ts'
import { FIXED_NAMES, namesOf, tokensSecretName } from '../../../../api/dynakube/names.ts'
import { claimsNamespaces } from '../../../../api/dynakube/namespace-claims.ts'
import { needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { coreLabels } from '../../../labels.ts'
import { encodeSecret } from '../../../secret-data.ts'
import { type Component, known } from '../../component.ts'
import type { RenderInput, SecretData } from '../../render-input.ts'
import { TokenError } from '../../resolve/tokens.ts'
import { clientConfig, endpointProperties } from './client-files.ts'
import { processModuleFile } from './process-module-file.ts'

/** The key of the configuration of code modules. */
export const PROCESS_MODULE_KEY = 'ruxitagentproc.json'

/** The Secret in the operator's namespace and the name of its copies. */
export function copiesOf(dynakube: DynaKube): ReadonlyMap<string, string> {
  const names = namesOf(dynakube)
  return new Map([
    [names.bootstrapperConfig, FIXED_NAMES.bootstrapperConfig],
    [names.bootstrapperCerts, FIXED_NAMES.bootstrapperCerts],
    [names.otlpExporterConfig, FIXED_NAMES.otlpExporterConfig],
    [names.otlpExporterCerts, FIXED_NAMES.otlpExporterCerts],
  ])
}

/** Injection of code modules, metadata and exporters. */
export const injection: Component = {
  name: 'injection',
  mayOwn: (dynakube) => [...copiesOf(dynakube).keys()].map((name) => ({ resource: Secrets, name })),
  render(input) {
    const names = namesOf(input.dynakube)
    return [
      ...secret(input, names.bootstrapperConfig, bootstrapperConfig(input)),
      ...secret(input, names.bootstrapperCerts, bootstrapperCerts(input)),
      ...secret(input, names.otlpExporterConfig, exporterConfig(input)),
      ...secret(input, names.otlpExporterCerts, exporterCerts(input)),
    ]
  },
}

/** Without data there is no Secret. */
function secret({ dynakube, operator }: RenderInput, name: string, data: SecretData): readonly DesiredObject[] {
  if (Object.keys(data).length === 0) return []
  const owner = dynakube.metadata.name ?? ''
  const labels = coreLabels({ owner, component: 'webhook', operatorVersion: operator.version }).all
  const { namespace } = dynakube.metadata
  return [desired(Secrets, { metadata: { namespace, name, labels }, data: encodeSecret(data) })]
}

function bootstrapperConfig(input: RenderInput): SecretData {
  const { dynakube } = input
  if (!claimsNamespaces(dynakube)) return {}
  const endpoint = { 'endpoint.properties': endpointProperties(input) }
  if (!needsAppInjection(dynakube)) return endpoint
  const { nodeImagePull, oneAgentInitialConnectRetryMs: retryMs } = featureFlags(dynakube)
  return {
    ...(!nodeImagePull && { 'dtclient.config': clientConfig(input) }),
    [PROCESS_MODULE_KEY]: processModuleFile(input),
    ...(retryMs >= 0 && { 'initial-connect-retry': String(retryMs) }),
    ...endpoint,
  }
}

function bootstrapperCerts({ dynakube, material }: RenderInput): SecretData {
  if (!claimsNamespaces(dynakube)) return {}
  const gateway = hasActiveGateCertificate(dynakube) ? material.activeGateCertificate : undefined
  const trusted = material.trustedCertificates
  return { ...(gateway && { 'activegate.pem': gateway }), ...(trusted && { 'trusted.pem': trusted }) }
}

function exporterConfig({ dynakube, material }: RenderInput): SecretData {
  if (!hasOtlpExporter(dynakube)) return {}
  const { dataIngestToken } = material
  if (dataIngestToken) return { dataIngestToken }
  const where = `the Secret ${dynakube.metadata.namespace}/${tokensSecretName(dynakube)}`
  throw new TokenError(`${where} has no dataIngestToken, which spec.otlpExporterConfiguration needs; add one`)
}

/** Exporters talk to the gateway where it has a certificate of its own, and to the environment otherwise. */
function exporterCerts({ dynakube, material }: RenderInput): SecretData {
  if (!hasOtlpExporter(dynakube)) return {}
  const isGateway = hasActiveGateCertificate(dynakube)
  const certificate = isGateway ? material.activeGateCertificate : material.trustedCertificates
  if (!isGateway && certificate === undefined) return {}
  const what = 'the certificate of the ActiveGate'
  return { 'activegate-tls.crt': known(certificate, 'the configuration of exporters', what) }
}
