/** Reads addresses to listen on as the chart writes them: `:8383`, `127.0.0.1:8383`, `[::1]:8383`. */
import { networkInterfaces } from 'node:os'
import type { MetricsAddress, ServerAddress } from '@reeve/runtime/manager'

/** The port of a text, or `fallback` if it is invalid. */
export function portOf(text: string | undefined, fallback: number): number {
  const isPort = /^\d{1,5}$/.test(text ?? '') && Number(text) <= 65_535
  return isPort ? Number(text) : fallback
}

/**
 * The address of a text. Without a host it is all of the machine's; what cannot be read is `fallbackPort` on all.
 *
 * @example
 * bindAddress(':8383', 8383) // { host: '::', port: 8383 } where there is IPv6, else { host: '0.0.0.0', … }
 */
export function bindAddress(text: string | undefined, fallbackPort: number): ServerAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d+)$/.exec(text ?? '') ?? []
  return { host: bracketed || plain || everyHost(), port: portOf(port, fallbackPort) }
}

/**
 * The address of `/metrics`, for everybody or, with `METRICS_PROTECTED=true`, by TLS for accounts that may get it.
 *
 * @example
 * metricsAddress(':8383', 8383, process.env)
 */
export function metricsAddress(
  text: string | undefined,
  fallbackPort: number,
  env: Readonly<Record<string, string | undefined>>,
): MetricsAddress {
  const address = bindAddress(text, fallbackPort)
  return env.METRICS_PROTECTED === 'true' ? { ...address, isProtected: true } : address
}

/** `::` accepts IPv4 as well, but does not exist on a machine without IPv6. */
export function everyHost(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return addresses.some(({ family }) => family === 'IPv6') ? '::' : '0.0.0.0'
}
