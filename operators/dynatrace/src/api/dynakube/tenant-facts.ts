/** What follows from the tenant of a DynaKube: its host, tenant, images and how often it is called. */
import { parseUrl } from '@reeve/http/url-reference'
import type { DynaKube } from '../latest.ts'

/** Host and port of `apiUrl`; empty when it has none or is not a URL. */
export const apiHost = ({ spec }: DynaKube): string => parseUrl(spec.apiUrl)?.host ?? ''

/** The tag of an image of the tenant for a version. */
export function imageTag(version: string): string {
  const parts = version.split('.')
  const tag = parts.length > 3 ? parts.slice(0, 3).join('.') : version
  return tag.includes('raw') ? tag : `${tag}-raw`
}

/** The agent's image in the registry of the tenant; empty when `apiUrl` has no host. */
export const defaultOneAgentImage = (dynakube: DynaKube, version: string): string =>
  imageOf(dynakube, 'oneagent', version)

/** The gateway's image in the registry of the tenant; empty when `apiUrl` has no host. */
export const defaultActiveGateImage = (dynakube: DynaKube, version: string): string =>
  imageOf(dynakube, 'activegate', version)

function imageOf(dynakube: DynaKube, component: string, version: string): string {
  const host = apiHost(dynakube)
  return host === '' ? '' : `${host}/linux/${component}:${imageTag(version)}`
}

/** The UUID of the tenant is not known yet, and not part of the URL. */
export class TenantUnknownError extends Error {
  readonly code = 'TENANT_UNKNOWN'
  override readonly name = 'TenantUnknownError'
}

/**
 * The UUID that the tenant reported. Not read from `apiUrl`, which may point to a gateway or a vanity name.
 *
 * *Errors*: {@link TenantUnknownError} until the tenant has been called.
 */
export function tenantUuid({ metadata, status }: DynaKube): string {
  const uuid =
    status?.oneAgent?.connectionInfoStatus?.tenantUUID || status?.activeGate?.connectionInfoStatus?.tenantUUID
  if (uuid) return uuid
  throw new TenantUnknownError(
    `DynaKube ${metadata.namespace}/${metadata.name} has no tenantUUID in its status yet; wait for the next reconcile`,
  )
}

/**
 * The tenant by its address, as earlier releases named directories on nodes. Only for finding those.
 *
 * *Errors*: {@link TenantUnknownError} naming the address.
 */
export function tenantFromApiUrl({ spec }: DynaKube): string {
  const { hostname = '', path = '' } = parseUrl(spec.apiUrl) ?? {}
  const [first, tenant, third] = path.split('/').slice(1)
  if (first === 'e' && tenant && third === 'api') return tenant
  const label = hostname.split('.').find((part) => part !== '')
  if (label) return label
  throw new TenantUnknownError(`spec.apiUrl "${spec.apiUrl}" does not contain a tenant id`)
}

const DEFAULT_THRESHOLD_MINUTES = 15

/** How long a response of the tenant is valid. */
export const apiRequestThresholdMs = ({ spec }: DynaKube): number =>
  (spec.dynatraceApiRequestThreshold ?? DEFAULT_THRESHOLD_MINUTES) * 60_000

/** Whether the tenant may be called again after a response at `last`. */
export function isApiRequestAllowed(dynakube: DynaKube, last: string | undefined, nowMs: number): boolean {
  const lastMs = Date.parse(last ?? '')
  return Number.isNaN(lastMs) || lastMs + apiRequestThresholdMs(dynakube) <= nowMs
}
