/** What pods are injected with: code modules, metadata, and how to reach the tenant. */
import { Secrets } from '@reeve/kube'
import { waiting } from '@reeve/runtime'
import { hasActiveGateCertificate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { claimsNamespaces } from '../../../../api/dynakube/namespace-claims.ts'
import { needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { SecretData } from '../../../rendering/secret-data.ts'
import { copied, objectConditions } from '../../conditions/object-conditions.ts'
import { type DynaKubeComponent, type DynaKubeInput, renderInputOf, runsNoPods } from '../../dynakube-component.ts'
import { activeGateCertificate } from '../active-gate/certificate.ts'
import { oneAgentConnection, oneAgentConnectionOf } from '../connection/one-agent-connection.ts'
import { enrichmentRules } from '../settings/enrichment-rules.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'
import { codeModulesVersion } from '../versions/versions.ts'
import { clientConfig, endpointProperties } from './client-files.ts'
import { processModuleFile } from './process-module-file.ts'
import {
  BOOTSTRAPPER_CONDITION,
  PROCESS_MODULE_KEY,
  type ProcessModules,
  resolveProcessModules,
} from './process-modules.ts'
import { sourceSecret } from './source-secret.ts'

/** Injection of code modules and metadata. */
export const injection: DynaKubeComponent<ProcessModules> = {
  name: 'injection',
  needs: [tenant, oneAgentConnection, codeModulesVersion, enrichmentRules],
  after: [activeGateCertificate],
  isEnabled: claimsNamespaces,
  isReady: runsNoPods,
  mayOwn(dynakube) {
    const { bootstrapperConfig: config, bootstrapperCerts: certs } = namesOf(dynakube)
    return [config, certs].map((name) => ({ resource: Secrets, name }))
  },
  resolve: resolveProcessModules,
  render(engineInput) {
    const input = renderInputOf(engineInput)
    const names = namesOf(input.dynakube)
    const config = bootstrapperConfig(engineInput, input.operator.hasCsiDriver)
    if (config === undefined) return waiting('the configuration of code modules')
    return [
      ...sourceSecret(input, names.bootstrapperConfig, config),
      ...sourceSecret(input, names.bootstrapperCerts, bootstrapperCerts(engineInput)),
    ]
  },
  ...objectConditions([
    copied(BOOTSTRAPPER_CONDITION, (dynakube) => namesOf(dynakube).bootstrapperConfig),
    copied('BootstrapperCertsConfig', (dynakube) => namesOf(dynakube).bootstrapperCerts),
  ]),
}

function bootstrapperConfig(input: DynaKubeInput<ProcessModules>, hasCsiDriver: boolean): SecretData | undefined {
  const { primary: dynakube, facts } = input
  const { apiToken, proxyUrl, ...tokens } = tenantOf(input)
  const endpoint = { 'endpoint.properties': endpointProperties(dynakube, { apiToken, ...tokens }) }
  if (!needsAppInjection(dynakube)) return endpoint
  const { processModuleConfig } = facts
  if (processModuleConfig === undefined) return undefined
  const { oneAgentTenantToken } = oneAgentConnectionOf(input)
  const connection = { oneAgentTenantToken, ...(proxyUrl !== undefined && { proxyUrl }) }
  const { nodeImagePull, oneAgentInitialConnectRetryMs: retryMs } = featureFlags(dynakube)
  // The API token, for all who read Secrets of an injected namespace: only where init containers download with it.
  const downloads = !nodeImagePull && !hasCsiDriver
  return {
    ...(downloads && { 'dtclient.config': clientConfig(dynakube, apiToken, proxyUrl) }),
    [PROCESS_MODULE_KEY]: processModuleFile(dynakube, processModuleConfig, connection),
    ...(retryMs >= 0 && { 'initial-connect-retry': String(retryMs) }),
    ...endpoint,
  }
}

function bootstrapperCerts(input: DynaKubeInput): SecretData {
  const { primary, factsOf } = input
  const gateway = hasActiveGateCertificate(primary) ? factsOf(activeGateCertificate)?.activeGateCertificate : undefined
  const { trustedCertificates: trusted } = tenantOf(input)
  return { ...(gateway && { 'activegate.pem': gateway }), ...(trusted && { 'trusted.pem': trusted }) }
}
