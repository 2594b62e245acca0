/** The proxy of a DynaKube: who uses it, and how its address is found. */
import { createHash } from 'node:crypto'
import { featureFlags } from '../feature-flags.ts'
import type { DynaKube } from '../latest.ts'

const PROXY_KEY = 'proxy'

/** Whether a proxy is configured. */
export const hasProxy = ({ spec }: DynaKube): boolean => Boolean(spec.proxy?.value || spec.proxy?.valueFrom)

/** Whether agents use it. */
export const oneAgentUsesProxy = (dynakube: DynaKube): boolean =>
  hasProxy(dynakube) && !featureFlags(dynakube).oneAgentIgnoreProxy

/** Decoded data of a Secret, or `undefined` when it does not exist. Rejects when it cannot be read. */
export type ReadSecret = (name: string) => Promise<Readonly<Record<string, string>> | undefined>

/** The address of the proxy cannot be found out. */
export class ProxyNotFoundError extends Error {
  readonly code = 'PROXY_NOT_FOUND'
  override readonly name = 'ProxyNotFoundError'
}

/**
 * The address of the proxy, or `undefined` without one. A Secret is read only when the address is not given directly.
 *
 * *Errors*: {@link ProxyNotFoundError} naming the Secret, and the key when that is what is missing.
 */
export async function proxyUrl({ spec, metadata }: DynaKube, readSecret: ReadSecret): Promise<string | undefined> {
  const { value, valueFrom } = spec.proxy ?? {}
  if (value) return value
  if (!valueFrom) return undefined
  const at = `spec.proxy.valueFrom of DynaKube ${metadata.namespace}/${metadata.name}`
  let data: Awaited<ReturnType<ReadSecret>>
  try {
    data = await readSecret(valueFrom)
  } catch (cause) {
    throw new ProxyNotFoundError(`${at}: the Secret ${valueFrom} cannot be read`, { cause })
  }
  if (data === undefined) throw new ProxyNotFoundError(`${at}: the Secret ${valueFrom} does not exist; create it`)
  const url = data[PROXY_KEY]
  if (url === undefined) {
    throw new ProxyNotFoundError(`${at}: the Secret ${valueFrom} has no key ${PROXY_KEY}; add it`)
  }
  return url
}

/** A short text that changes with the address of the proxy and does not reveal it. */
export function proxyUrlHash(url: string): string {
  return createHash('sha256').update(JSON.stringify(url)).digest('hex').slice(0, 16)
}
