/** The configuration of code modules: what the tenant gave, and how to reach it. */

import { hostGroup } from '../../../../api/dynakube/one-agent-facts.ts'
import { oneAgentUsesProxy } from '../../../../api/dynakube/proxy.ts'
import { tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import { known } from '../../component.ts'
import { activeGateHosts } from '../../no-proxy.ts'
import type { RenderInput } from '../../render-input.ts'

/** The file, with one setting per key in the order of the keys. */
export function processModuleFile(input: RenderInput): string {
  const { processModuleConfig, oneAgentTenantToken } = input.material
  const config = known(processModuleConfig, 'injection', 'the configuration of code modules')
  known(oneAgentTenantToken, 'injection', 'the token of the tenant')
  const byKey = new Map(config.properties.map((property) => [property.key, property]))
  for (const [key, value] of Object.entries(connection(input))) {
    if (value === '') byKey.delete(key)
    else byKey.set(key, { section: 'general', key, value })
  }
  const properties = [...byKey.values()].sort((left, right) => (left.key < right.key ? -1 : 1))
  // The revision is a number that only text can carry.
  return `{"properties":${JSON.stringify(properties)},"revision":${config.revision}}`
}

/** An empty value takes a setting of the tenant away. */
function connection({ dynakube, material }: RenderInput): Readonly<Record<string, string>> {
  const proxy = oneAgentUsesProxy(dynakube) ? (material.proxyUrl ?? '') : ''
  const direct = [...activeGateHosts(dynakube), featureFlags(dynakube).noProxy].filter((host) => host !== '')
  const endpoints = dynakube.status.oneAgent?.connectionInfoStatus?.endpoints ?? ''
  return {
    hostGroup: hostGroup(dynakube),
    tenant: tenantUuid(dynakube),
    tenantToken: (material.oneAgentTenantToken ?? '').trim(),
    serverAddress: `{${endpoints}}`,
    proxy,
    noProxy: proxy === '' ? '' : direct.join(','),
  }
}
