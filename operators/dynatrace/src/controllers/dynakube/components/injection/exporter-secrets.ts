/** What exporters of telemetry in pods are configured with; copied like everything else that pods are injected with. */
import { Secrets } from '@reeve/kube'
import { hasActiveGateCertificate } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasOtlpExporter } from '../../../../api/dynakube/feature-facts.ts'
import { namesOf, tokensSecretName } from '../../../../api/dynakube/names.ts'
import type { SecretData } from '../../../rendering/secret-data.ts'
import { TokenError } from '../../../tenant-access/tokens.ts'
import { type Component, known } from '../../component.ts'
import { copied } from '../../object-conditions.ts'
import type { RenderInput } from '../../render-input.ts'
import { activeGateCertificate } from '../active-gate/certificate.ts'
import { sourceSecret } from './source-secret.ts'

/** The configuration of exporters. It fails without a token of its own, which must not stop code modules. */
export const exporters: Component = {
  name: 'exporters',
  after: [activeGateCertificate],
  isEnabled: hasOtlpExporter,
  conditions: (dynakube) => [
    copied('OTLPExporterConfigSecret', namesOf(dynakube).otlpExporterConfig, {
      unrendered: (failure) => (failure instanceof TokenError ? 'SecretGenerationFailed' : undefined),
    }),
    copied('OTLPExporterCertsConfig', namesOf(dynakube).otlpExporterCerts),
  ],
  mayOwn(dynakube) {
    const { otlpExporterConfig, otlpExporterCerts } = namesOf(dynakube)
    return [otlpExporterConfig, otlpExporterCerts].map((name) => ({ resource: Secrets, name }))
  },
  render(input) {
    if (!hasOtlpExporter(input.dynakube)) return []
    const names = namesOf(input.dynakube)
    return [
      ...sourceSecret(input, names.otlpExporterConfig, token(input)),
      ...sourceSecret(input, names.otlpExporterCerts, certificate(input)),
    ]
  },
}

function token({ dynakube, material: { dataIngestToken } }: RenderInput): SecretData {
  if (dataIngestToken) return { dataIngestToken }
  const where = `the Secret ${dynakube.metadata.namespace}/${tokensSecretName(dynakube)}`
  throw new TokenError(`${where} has no dataIngestToken, which spec.otlpExporterConfiguration needs; add one`)
}

/** Exporters talk to the gateway where it has a certificate of its own, and to the tenant otherwise. */
function certificate({ dynakube, material }: RenderInput): SecretData {
  const isGateway = hasActiveGateCertificate(dynakube)
  const trusted = isGateway ? material.activeGateCertificate : material.trustedCertificates
  if (!isGateway && trusted === undefined) return {}
  return { 'activegate-tls.crt': known(trusted, 'the configuration of exporters', 'the certificate of the ActiveGate') }
}
