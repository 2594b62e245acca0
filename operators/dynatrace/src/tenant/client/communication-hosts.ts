/** Finds the hosts behind communication endpoints. */
import { parseUrl } from '@reeve/http/url-reference'

/** One host that agents talk to. */
export interface CommunicationHost {
  readonly protocol: 'http' | 'https'
  readonly host: string
  readonly port: number
}

const DEFAULT_PORTS = { http: 80, https: 443 } as const

/**
 * The hosts of absolute `http` and `https` endpoints, each once; everything else is skipped.
 *
 * @example
 * communicationHosts(['https://tenant.example.com/communication', 'nonsense'])
 * // [{ protocol: 'https', host: 'tenant.example.com', port: 443 }]
 */
export function communicationHosts(endpoints: readonly string[]): readonly CommunicationHost[] {
  const hosts = new Map<string, CommunicationHost>()
  for (const endpoint of endpoints) {
    const host = parseHost(endpoint)
    if (host !== undefined) hosts.set(`${host.protocol}://${host.host}:${host.port}`, host)
  }
  return [...hosts.values()]
}

function parseHost(endpoint: string): CommunicationHost | undefined {
  const { scheme, host = '', hostname = '' } = parseUrl(endpoint.trim()) ?? {}
  if ((scheme !== 'http' && scheme !== 'https') || hostname === '') return undefined
  const port = /:(\d+)$/.exec(host)?.[1]
  return { protocol: scheme, host: hostname, port: port === undefined ? DEFAULT_PORTS[scheme] : Number(port) }
}
