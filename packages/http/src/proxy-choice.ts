/** Which proxy, if any, a request goes through. */
import { proxyFromEnvironment } from '@reeve/kube'
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
 * A configured proxy for `http` and `https` targets alike, or `undefined` when its address cannot be used: the caller
 * then goes on as if none were configured. Loopback targets are never proxied.
 *
 * @example
 * const choose = configuredProxy({ url: 'user:pw@proxy:3128', noProxy: '.internal' }) ?? environmentProxy(process.env)
 */
export function configuredProxy({ url, noProxy = '' }: ConfiguredProxy): ProxyChoice | undefined {
  const parsed = parseUrl(url)
  if (parsed === undefined) return undefined
  const address = ['http', 'https', 'socks5'].includes(parsed.scheme) ? url : `http://${url}`
  if (!URL.canParse(address)) return undefined
  return environmentProxy({ HTTP_PROXY: address, HTTPS_PROXY: address, NO_PROXY: noProxy })
}
