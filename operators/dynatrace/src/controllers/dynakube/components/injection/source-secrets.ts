/** What pods get injected with. */
import { Secrets } from '@reeve/kube'
import { hasActiveGateCertificate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { claimsNamespaces } from '../../../../api/dynakube/namespace-claims.ts'
import { needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { SecretData } from '../../../rendering/secret-data.ts'
import type { Component } from '../../component.ts'
import { copied } from '../../object-conditions.ts'
import type { RenderInput } from '../../render-input.ts'
import { activeGateCertificate } from '../active-gate/certificate.ts'
import { oneAgentTenantSecret } from '../connection/tenant-secrets.ts'
import { enrichmentRules } from '../settings/settings.ts'
import { codeModulesVersion } from '../versions/versions.ts'
import { clientConfig, endpointProperties } from './client-files.ts'
import { processModuleFile } from './process-module-file.ts'
import { BOOTSTRAPPER_CONDITION, PROCESS_MODULE_KEY, resolveProcessModules } from './process-modules.ts'
import { sourceSecret } from './source-secret.ts'

/** Injection of code modules and metadata. */
export const injection: Component = {
  name: 'injection',
  needs: [oneAgentTenantSecret, codeModulesVersion, enrichmentRules],
  after: [activeGateCertificate],
  isEnabled: claimsNamespaces,
  resolve: resolveProcessModules,
  conditions: (dynakube) => [
    copied(BOOTSTRAPPER_CONDITION, namesOf(dynakube).bootstrapperConfig),
    copied('BootstrapperCertsConfig', namesOf(dynakube).bootstrapperCerts),
  ],
  mayOwn(dynakube) {
    const { bootstrapperConfig: config, bootstrapperCerts: certs } = namesOf(dynakube)
    return [config, certs].map((name) => ({ resource: Secrets, name }))
  },
  render(input) {
    if (!claimsNamespaces(input.dynakube)) return []
    const names = namesOf(input.dynakube)
    return [
      ...sourceSecret(input, names.bootstrapperConfig, bootstrapperConfig(input)),
      ...sourceSecret(input, names.bootstrapperCerts, bootstrapperCerts(input)),
    ]
  },
}

function bootstrapperConfig(input: RenderInput): SecretData {
  const { dynakube } = input
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
  const gateway = hasActiveGateCertificate(dynakube) ? material.activeGateCertificate : undefined
  const trusted = material.trustedCertificates
  return { ...(gateway && { 'activegate.pem': gateway }), ...(trusted && { 'trusted.pem': trusted }) }
}
