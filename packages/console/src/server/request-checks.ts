/** Which requests are served at all: from which host names and pages. */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

/** Why a request is refused. */
export interface Refusal {
  readonly status: 403 | 405 | 415 | 421
  readonly message: string
}

/** Names by which the server may be called. */
export interface ServedNames {
  /** Only loopback addresses and `localhost`. */
  readonly isLocal: boolean
  /** Other names, such as those of a Service. */
  readonly names: readonly string[]
}

/**
 * Refuses requests that a page of another site could have caused.
 *
 * A page whose host name is bound to the address of this server (DNS rebinding) sends its own name as `Host`. An IP
 * address as `Host` cannot be rebound.
 */
export function refusalOf(
  { method, headers }: { readonly method: string; readonly headers: IncomingHttpHeaders },
  served: ServedNames,
): Refusal | undefined {
  const host = headers.host ?? ''
  if (!isServed(host, served)) {
    return { status: 421, message: 'this host name is not served: use the address that the operator printed' }
  }
  if (!['GET', 'HEAD', 'POST', 'DELETE'].includes(method)) return { status: 405, message: 'the console is read-only' }
  const { origin, 'sec-fetch-site': site } = headers
  const isForeign = origin !== undefined && originHost(origin) !== host
  // Links from elsewhere may open the page, but only its own scripts may call the API.
  if (method !== 'GET' && method !== 'HEAD' && (isForeign || site === 'cross-site' || site === 'same-site')) {
    return { status: 403, message: 'requests of other sites are not served' }
  }
  if (method === 'POST' && !/^application\/json\b/.test(headers['content-type'] ?? '')) {
    return { status: 415, message: 'send application/json' }
  }
  return undefined
}

function isServed(host: string, { isLocal, names }: ServedNames): boolean {
  const name = hostName(host)
  if (name === 'localhost' || isLoopback(name)) return true
  return !isLocal && (isIP(name) !== 0 || names.includes(name))
}

/** Whether an address can only be reached from the own machine. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}

/** Without the port, and without the brackets of IPv6. */
function hostName(host: string): string {
  const [, address] = /^\[([^\]]+)\](?::\d+)?$/.exec(host) ?? []
  return (address ?? host.replace(/:\d+$/, '')).toLowerCase()
}

function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
