/** Files with which the init container of a pod reaches the tenant. */
import { hasCapability } from '../../../../api/dynakube/active-gate-facts.ts'
import { hostGroup } from '../../../../api/dynakube/one-agent-facts.ts'
import { oneAgentUsesProxy } from '../../../../api/dynakube/proxy.ts'
import { tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { Tokens } from '../../../tenant-access/tokens.ts'
import { activeGateHost } from '../../no-proxy.ts'

/** How code modules are downloaded. */
export function clientConfig(dynakube: DynaKube, apiToken: string, proxyUrl = ''): string {
  const { apiUrl, networkZone, skipCertCheck } = dynakube.spec
  return JSON.stringify({
    url: apiUrl,
    apiToken,
    proxy: oneAgentUsesProxy(dynakube) ? proxyUrl : '',
    noProxy: featureFlags(dynakube).noProxy,
    networkZone: networkZone ?? '',
    hostGroup: hostGroup(dynakube),
    skipCertCheck: skipCertCheck ?? false,
  })
}

/** Where applications send their own metrics. */
export function endpointProperties(dynakube: DynaKube, { dataIngestToken = '' }: Tokens): string {
  const url = hasCapability(dynakube, 'metrics-ingest')
    ? `http://${activeGateHost(dynakube)}/e/${tenantUuid(dynakube)}/api/v2/metrics/ingest`
    : `${dynakube.spec.apiUrl}/v2/metrics/ingest`
  return `DT_METRICS_INGEST_URL=${url}\nDT_METRICS_INGEST_API_TOKEN=${dataIngestToken}\n`
}
