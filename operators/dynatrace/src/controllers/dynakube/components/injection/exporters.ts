/** What exporters of telemetry in pods are configured with; copied like everything else that pods are injected with. */
import { Secrets } from '@reeve/kube'
import { waiting } from '@reeve/runtime'
import { hasActiveGateCertificate } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasOtlpExporter } from '../../../../api/dynakube/feature-facts.ts'
import { namesOf, tokensSecretName } from '../../../../api/dynakube/names.ts'
import type { SecretData } from '../../../rendering/secret-data.ts'
import { TokenError } from '../../../tenant-access/tokens.ts'
import { copied, objectConditions } from '../../conditions/object-conditions.ts'
import { REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeComponent, type DynaKubeInput, renderInputOf, runsNoPods } from '../../dynakube-component.ts'
import { activeGateCertificate } from '../active-gate/certificate.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'
import { sourceSecret } from './source-secret.ts'

/** The configuration of exporters. It fails without its token, which must not stop code modules. */
export const exporters: DynaKubeComponent = {
  name: 'exporters',
  needs: [tenant],
  after: [activeGateCertificate],
  isEnabled: hasOtlpExporter,
  isReady: runsNoPods,
  mayOwn(dynakube) {
    const { otlpExporterConfig, otlpExporterCerts } = namesOf(dynakube)
    return [otlpExporterConfig, otlpExporterCerts].map((name) => ({ resource: Secrets, name }))
  },
  render(engineInput) {
    const input = renderInputOf(engineInput)
    const names = namesOf(input.dynakube)
    const config = token(engineInput)
    const certs = certificate(engineInput)
    if (certs === undefined) return waiting('the certificate of the ActiveGate')
    return [
      ...sourceSecret(input, names.otlpExporterConfig, config),
      ...sourceSecret(input, names.otlpExporterCerts, certs),
    ]
  },
  ...objectConditions([
    copied('OTLPExporterConfigSecret', (dynakube) => namesOf(dynakube).otlpExporterConfig, {
      unrendered: (failure) => (failure instanceof TokenError ? REASONS.secretGenerationFailed : undefined),
    }),
    copied('OTLPExporterCertsConfig', (dynakube) => namesOf(dynakube).otlpExporterCerts),
  ]),
}

function token(input: DynaKubeInput): SecretData {
  const { dataIngestToken } = tenantOf(input)
  if (dataIngestToken) return { dataIngestToken }
  const where = `the Secret ${input.primary.metadata.namespace}/${tokensSecretName(input.primary)}`
  throw new TokenError(`${where} has no dataIngestToken, which spec.otlpExporterConfiguration needs; add one`)
}

/** Exporters send to the gateway if it has a certificate, and to the tenant otherwise. */
function certificate(input: DynaKubeInput): SecretData | undefined {
  const isGateway = hasActiveGateCertificate(input.primary)
  const trusted = isGateway
    ? input.factsOf(activeGateCertificate)?.activeGateCertificate
    : tenantOf(input).trustedCertificates
  if (trusted) return { 'activegate-tls.crt': trusted }
  return isGateway ? undefined : {}
}
