/** The configuration of code modules: what the tenant gave, and how to reach it. */

import { hostGroup } from '../../../../api/dynakube/one-agent-facts.ts'
import { oneAgentUsesProxy } from '../../../../api/dynakube/proxy.ts'
import { tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { activeGateHosts } from '../../no-proxy.ts'
import type { ProcessModuleConfig } from './process-modules.ts'

/** How code modules reach the tenant. */
export interface CodeModulesConnection {
  readonly oneAgentTenantToken: string
  /** With its password. */
  readonly proxyUrl?: string
}

/** The file, with one setting per key in the order of the keys. */
export function processModuleFile(
  dynakube: DynaKube,
  config: ProcessModuleConfig,
  connection: CodeModulesConnection,
): string {
  const byKey = new Map(config.properties.map((property) => [property.key, property]))
  for (const [key, value] of Object.entries(connectionSettings(dynakube, connection))) {
    if (value === '') byKey.delete(key)
    else byKey.set(key, { section: 'general', key, value })
  }
  const properties = [...byKey.values()].sort((left, right) => (left.key < right.key ? -1 : 1))
  // The revision is an integer that a JavaScript number cannot hold.
  return `{"properties":${JSON.stringify(properties)},"revision":${config.revision}}`
}

/** An empty value removes a setting of the tenant. */
function connectionSettings(
  dynakube: DynaKube,
  { oneAgentTenantToken, proxyUrl = '' }: CodeModulesConnection,
): Readonly<Record<string, string>> {
  const proxy = oneAgentUsesProxy(dynakube) ? proxyUrl : ''
  const direct = [...activeGateHosts(dynakube), featureFlags(dynakube).noProxy].filter((host) => host !== '')
  const endpoints = dynakube.status?.oneAgent?.connectionInfoStatus?.endpoints ?? ''
  return {
    hostGroup: hostGroup(dynakube),
    tenant: tenantUuid(dynakube),
    tenantToken: oneAgentTenantToken.trim(),
    serverAddress: `{${endpoints}}`,
    proxy,
    noProxy: proxy === '' ? '' : direct.join(','),
  }
}
