/** Which proxy, if any, a request goes through. */

import { HttpConfigError } from './http-error.ts'
import { isProxyUrl, proxyFromEnvironment } from './proxy.ts'
import { parseUrl } from './url-reference.ts'

/** The proxy for a target, or `undefined` for a direct connection. */
export type ProxyChoice = (target: URL) => string | undefined

/** A proxy as configured in a resource. */
export interface ConfiguredProxy {
  /** With or without scheme, possibly with user and password. */
  readonly url: string
  /** Comma-separated hosts, domains and subnets that are contacted directly. @default none */
  readonly noProxy?: string
}

/** Never a proxy. */
export const noProxy: ProxyChoice = () => undefined

/**
 * The proxy by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` of a process.
 *
 * @example
 * const choose = environmentProxy(process.env)
 */
export function environmentProxy(env: Readonly<Record<string, string | undefined>>): ProxyChoice {
  return (target) => proxyFromEnvironment(target, env)
}

/**
 * A configured proxy for `http` and `https` targets alike. Loopback targets are never proxied.
 *
 * *Errors*: {@link HttpConfigError} when its address cannot be used. Going without it would send tokens on a way that
 * the proxy is meant to prevent.
 *
 * @example
 * const choose = configuredProxy({ url: 'user:pw@proxy:3128', noProxy: '.internal' })
 */
export function configuredProxy({ url, noProxy = '' }: ConfiguredProxy): ProxyChoice {
  const address = proxyAddress(url)
  if (address === undefined) {
    // It may hold a password and is not repeated.
    throw new HttpConfigError('the address of the proxy cannot be used; write it as http://user:password@host:port')
  }
  return environmentProxy({ HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: noProxy })
}

/** Whether a proxy can be configured with this address. */
export const isProxyAddress = (url: string): boolean => proxyAddress(url) !== undefined

/** The address with its scheme, or `undefined` when it cannot be used. */
function proxyAddress(url: string): string | undefined {
  const parsed = parseUrl(url)
  if (parsed === undefined) return undefined
  // `proxy:3128` looks like a scheme and a path.
  const address = url.includes('://') ? url : `http://${url}`
  return isProxyUrl(address) ? address : undefined
}
