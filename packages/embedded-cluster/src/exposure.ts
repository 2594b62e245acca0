/** Who can reach a cluster that listens, and how its clients address it. */
import { BlockList, isIPv6 } from 'node:net'
import type { EmbeddedClusterOptions } from './cluster-options.ts'

/** Whether only processes on this machine can connect to an address. */
export function isLoopback(address: string): boolean {
  const loopback = new BlockList()
  loopback.addSubnet('127.0.0.0', 8, 'ipv4')
  loopback.addAddress('::1', 'ipv6')
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/**
 * The host in the URL of a cluster that listens on `host`: a wildcard address is not one that
 * clients can connect to everywhere.
 *
 * @example
 * urlHost('0.0.0.0') // 127.0.0.1
 */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return isIPv6(host) ? `[${host}]` : host
}

/** Warnings about who else can use a cluster; empty if only its owner can. */
export function exposureWarnings(
  { address, port }: { readonly address: string; readonly port: number },
  { authorization, anonymousAuth }: Pick<EmbeddedClusterOptions, 'authorization' | 'anonymousAuth'>,
): readonly string[] {
  const at = isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`
  const warnings: string[] = []
  if (!isLoopback(address)) {
    warnings.push(
      `the embedded cluster listens on ${at}, which other machines can reach. ` +
        'It is meant for development: listen on 127.0.0.1, or only on a network that you trust.',
    )
  }
  if (authorization === 'AlwaysAllow' && anonymousAuth === true) {
    warnings.push(
      `everyone who can connect to ${at} may do everything, without credentials. ` +
        'Use RBAC, or do not allow anonymous requests.',
    )
  }
  return warnings
}
