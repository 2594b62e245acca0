/** Monitored hosts, and events about them. */
import { Type } from 'typebox'
import type { CallExecutor, CallOptions } from './call-executor.ts'
import type { ClassicApi } from './classic-api.ts'
import { isTenantNotFound, TenantCallError } from './errors.ts'

/** The outcome of a search for a host. */
export type HostSearch =
  | { readonly outcome: 'found'; readonly entityId: string }
  | { readonly outcome: 'not-found' }
  /** The tenant does not offer this call. */
  | { readonly outcome: 'not-available' }

/** An event about entities. */
export interface EntityEvent {
  /** Such as `MARKED_FOR_TERMINATION`. */
  readonly eventType: string
  readonly description: string
  readonly source: string
  readonly entityIds: readonly string[]
  readonly startMs: number
  readonly endMs: number
}

const Text = Type.Optional(Type.String())
const Hosts = Type.Array(
  Type.Object({ entityId: Text, networkZoneId: Text, ipAddresses: Type.Optional(Type.Array(Type.String())) }),
)
const DEFAULT_ZONE = 'default'

/** Calls about hosts. */
export class HostCalls {
  readonly #api: ClassicApi
  readonly #executor: CallExecutor

  constructor(api: ClassicApi, executor: CallExecutor) {
    this.#api = api
    this.#executor = executor
  }

  /**
   * The host with an IP address, among those of the network zone. All hosts of the last half hour are read, so this is
   * not for frequent use.
   */
  async findByIp(ip: string, options: CallOptions & { readonly networkZone?: string } = {}): Promise<HostSearch> {
    const name = 'host search'
    if (ip === '') throw new TenantCallError(name, 'the IP address is empty')
    const path = '/v1/entity/infrastructure/hosts?relativeTime=30mins&includeDetails=false'
    const call = this.#api.call({ name, path, token: 'api' })
    const { networkZone = '' } = options
    try {
      const hosts = await this.#executor.json(Hosts, call, options)
      const host = hosts.findLast(
        ({ networkZoneId = '', ipAddresses = [] }) => isInZone(networkZoneId, networkZone) && ipAddresses.includes(ip),
      )
      return host === undefined ? { outcome: 'not-found' } : { outcome: 'found', entityId: host.entityId ?? '' }
    } catch (error) {
      if (isTenantNotFound(error)) return { outcome: 'not-available' }
      throw error
    }
  }

  /** Sends an event; `false` when the tenant does not offer this call. */
  async sendEvent(event: EntityEvent | undefined, options: CallOptions = {}): Promise<boolean> {
    const name = 'event'
    if (event === undefined) throw new TenantCallError(name, 'no event to send')
    if (event.eventType === '') throw new TenantCallError(name, 'the event has no type')
    const { eventType, description, source, entityIds, startMs, endMs } = event
    const call = this.#api.call({
      name,
      method: 'POST',
      path: '/v1/events',
      token: 'api',
      body: { eventType, description, source, attachRules: { entityIds }, start: startMs, end: endMs },
    })
    try {
      await this.#executor.done(call, options)
      return true
    } catch (error) {
      if (isTenantNotFound(error)) return false
      throw error
    }
  }
}

function isInZone(zone: string, wanted: string): boolean {
  return wanted === '' ? zone === '' || zone === DEFAULT_ZONE : zone === wanted
}
