/** The proxy configured by environment variables. */
import { BlockList, isIP } from 'node:net'
import { HttpConfigError } from './http-error.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * The proxy for `server` by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` (or their lower-case forms). Loopback addresses
 * are never proxied.
 *
 * *Errors*: {@link HttpConfigError} naming the variable when the server requires the proxy and its value is invalid: a
 * direct connection would not be what the user intended.
 *
 * @example
 * proxyFromEnvironment(new URL('https://10.0.0.1'), { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '10.0.0.0/8' }) // undefined
 */
export function proxyFromEnvironment(server: URL, env: Env): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = variable(env, name)
  if (!proxy || isLoopback(hostOf(server)) || isExcluded(server, variable(env, 'NO_PROXY') ?? '')) return undefined
  const url = proxy.includes('://') ? proxy : `http://${proxy}`
  if (isProxyUrl(url)) return url
  // It may contain a password and is not repeated.
  throw new HttpConfigError(`${name} is not a valid proxy URL; write it as http://user:password@host:port`)
}

const PROXY_PROTOCOLS: readonly string[] = ['http:', 'https:', 'socks5:']

/**
 * Whether this is a valid proxy URL: it has a supported scheme and a host, and its user name and password can be
 * decoded.
 *
 * @example
 * isProxyUrl('http://user:50%@proxy:3128') // false: the percent sign must be written as %25
 */
export function isProxyUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !PROXY_PROTOCOLS.includes(url.protocol) || url.hostname === '') return false
  try {
    decodeURIComponent(`${url.username}${url.password}`)
    return true
  } catch {
    // A percent sign that does not start an escape.
    return false
  }
}

function isExcluded(server: URL, noProxy: string): boolean {
  const host = hostOf(server)
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  return noProxy
    .split(',')
    .map((rule) => rule.trim().toLowerCase())
    .some((rule) => rule !== '' && matches(rule, host, port))
}

function matches(rule: string, host: string, port: string): boolean {
  if (rule === '*') return true
  if (rule.includes('/')) return isInSubnet(host, rule)
  const { name, port: onlyPort } = splitPort(rule)
  if (onlyPort !== undefined && onlyPort !== port) return false
  if (isIP(name) !== 0 || isIP(host) !== 0) return name === host
  // ".example.com" and "*.example.com" mean subdomains only, "example.com" means the domain as well.
  if (name.startsWith('*.')) return host.endsWith(name.slice(1))
  return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`)
}

function splitPort(rule: string): { name: string; port?: string } {
  const match = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(rule)
  const name = (match?.[1] ?? rule).replace(/^\[|\]$/g, '')
  return match?.[2] === undefined ? { name } : { name, port: match[2] }
}

function isInSubnet(host: string, subnet: string): boolean {
  const [network = '', prefix = ''] = subnet.split('/')
  const family = isIP(network)
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(prefix)) return false
  if (Number(prefix) > (family === 4 ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(prefix), family === 4 ? 'ipv4' : 'ipv6')
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

function hostOf(server: URL): string {
  return server.hostname.replace(/^\[|\]$/g, '').toLowerCase()
}

function variable(env: Env, name: string): string | undefined {
  return env[name] || env[name.toLowerCase()]
}
