/** How registries are reached: by https, and some by plain http as well. */
import { isIP } from 'node:net'

/** Which registries are reached by plain http: those on the local network, if https fails; none; or all, and only so. */
export type PlainHttp = 'local' | 'never' | 'always'

/**
 * The addresses to try, the safe one first.
 *
 * @example
 * registryOrigins('localhost:5000') // ['https://localhost:5000', 'http://localhost:5000']
 */
export function registryOrigins(registry: string, plainHttp: PlainHttp = 'local'): readonly string[] {
  if (plainHttp === 'always') return [`http://${registry}`]
  return plainHttp === 'local' && isLocal(registry)
    ? [`https://${registry}`, `http://${registry}`]
    : [`https://${registry}`]
}

function isLocal(registry: string): boolean {
  const host = registry
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase()
  if (isIP(host) === 6) return host === '::1'
  if (isIP(host) === 4) return /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(host)
  return (host === 'localhost' && registry.includes(':')) || /\.(local|localhost)$/.test(host)
}
