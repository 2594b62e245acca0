/** The configuration file of the log agent. */
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { activeGateHosts } from '../../no-proxy.ts'

/** The file, one setting per line in a fixed order. */
export function deploymentConf(dynakube: DynaKube, tenantToken: string, proxyUrl = ''): string {
  const endpoints = dynakube.status?.oneAgent?.connectionInfoStatus?.endpoints ?? ''
  const noProxy = noProxyOf(dynakube)
  const settings: readonly (readonly [string, string])[] = [
    ['Server', `{${endpoints}}`],
    ['Tenant', tenantUuid(dynakube)],
    ['TenantToken', tenantToken.trim()],
    ['HostIdSource', 'k8s-node-name'],
    ['Proxy', proxyUrl],
    ['noProxy', noProxy],
    ['Location', dynakube.spec.networkZone ?? ''],
  ]
  return settings
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')
}

/** Hosts that the log agent reaches without a proxy, separated by commas. */
export function noProxyOf(dynakube: DynaKube): string {
  const gateways = hasActiveGate(dynakube) ? activeGateHosts(dynakube) : []
  return [featureFlags(dynakube).noProxy, ...gateways].filter((part) => part.trim() !== '').join(',')
}
