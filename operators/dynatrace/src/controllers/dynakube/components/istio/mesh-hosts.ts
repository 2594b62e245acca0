/** Hosts that a mesh has to let traffic out to. */
import { parseUrl } from '@reeve/http/url-reference'
import type { DynaKube } from '../../../../api/latest.ts'
import { communicationHosts } from '../../../../tenant/client/communication-hosts.ts'

/** One place outside the mesh. */
export interface MeshHost {
  /** The scheme of its address, in lower case. */
  readonly protocol: string
  /** A name or an IP address, the latter without brackets. */
  readonly host: string
  readonly port: number
}

/** The API of the tenant; empty when its URL is invalid. */
export const apiHosts = ({ spec }: DynaKube): readonly MeshHost[] => communicationHosts([spec.apiUrl])

/** Where agents connect to, as the tenant said. */
export function agentHosts({ status }: DynaKube): readonly MeshHost[] {
  const hosts = status?.oneAgent?.connectionInfoStatus?.communicationHosts ?? []
  return distinct(hosts.map(({ protocol = '', host = '', port = 0 }) => ({ protocol, host, port })))
}

/** Where gateways connect to, as the tenant said. */
export function gatewayHosts({ status }: DynaKube): readonly MeshHost[] {
  const endpoints = status?.activeGate?.connectionInfoStatus?.endpoints ?? ''
  return distinct(endpoints.split(',').flatMap(hostOf))
}

/** Earlier releases take port 80 for every scheme; tenants always name the port of gateways. */
const PORT_OF_GATEWAYS = 80

/** Any scheme is accepted, but without one the host cannot be determined. */
function hostOf(endpoint: string): readonly MeshHost[] {
  const { scheme = '', host = '', hostname = '' } = parseUrl(endpoint.trim()) ?? {}
  if (scheme === '' || hostname === '') return []
  const port = /:(\d+)$/.exec(host)?.[1]
  return [{ protocol: scheme, host: hostname, port: port === undefined ? PORT_OF_GATEWAYS : Number(port) }]
}

/** Each once, sorted: the order in responses varies, and another order would cause a write. */
function distinct(hosts: readonly MeshHost[]): readonly MeshHost[] {
  const byAddress = new Map(hosts.map((one) => [`${one.host}:${one.port}:${one.protocol}`, one]))
  return [...byAddress].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, host]) => host)
}
