/** Hosts that are reached without the proxy. */
import { hasCapability } from '../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../api/dynakube/names.ts'
import type { DynaKube } from '../../api/latest.ts'

/** The address of the gateways inside the cluster. */
export const activeGateHost = (dynakube: DynaKube): string =>
  `${namesOf(dynakube).activeGate}.${dynakube.metadata.namespace ?? ''}`

/** An address as it stands in a URL or a list of hosts: IPv6 in brackets. */
export const bracketed = (ip: string): string => (ip.includes(':') ? `[${ip}]` : ip)

/** Where gateways are reached: their addresses and, when they route, their name. */
export function activeGateHosts(dynakube: DynaKube): readonly string[] {
  const addresses = (dynakube.status?.activeGate?.serviceIPs ?? []).map(bracketed)
  return hasCapability(dynakube, 'routing') ? [...addresses, activeGateHost(dynakube)] : addresses
}
