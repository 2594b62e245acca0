/** Where agents and ActiveGates of a tenant connect to, and with what. */

import type { NetworkZoneOptions } from '../options.ts'
import { violation } from '../refusal.ts'

/** The connection info for OneAgents. */
export interface AgentConnectionInfo {
  readonly tenantUUID: string
  readonly tenantToken: string
  readonly communicationEndpoints: readonly string[]
  readonly formattedCommunicationEndpoints: string
}

/** The same for ActiveGates: endpoints are one text there. */
export interface GatewayConnectionInfo {
  readonly tenantUUID: string
  readonly tenantToken: string
  readonly communicationEndpoints: string
}

/** Set the fields to change the responses. */
export class ConnectionInfo {
  readonly tenantId: string
  /** What agents present to the server. */
  tenantToken: string
  #endpoints: () => readonly string[]
  readonly #zones = new Map<string, readonly string[]>()

  constructor(
    tenantId: string,
    tenantToken: string,
    endpoints: readonly string[] | (() => readonly string[]),
    zones: readonly NetworkZoneOptions[] = [],
  ) {
    this.tenantId = tenantId
    this.tenantToken = tenantToken
    this.#endpoints = typeof endpoints === 'function' ? endpoints : () => endpoints
    for (const { name, endpoints: ofZone } of zones) this.setZone(name, ofZone)
  }

  /** Where agents without a zone connect to. */
  get endpoints(): readonly string[] {
    return this.#endpoints()
  }

  /** An empty list means that there are no endpoints. */
  set endpoints(endpoints: readonly string[]) {
    this.#endpoints = () => endpoints
  }

  /** Gives a network zone its own endpoints. */
  setZone(name: string, endpoints: readonly string[]): void {
    this.#zones.set(name, endpoints)
  }

  /** From now on the zone is unknown. */
  removeZone(name: string): void {
    this.#zones.delete(name)
  }

  /** *Errors*: 400 for an unknown zone when the default zone is not to stand in for it. */
  forAgents(zone = '', hasFallback = false): AgentConnectionInfo {
    const ofZone = zone === '' || zone === 'default' ? this.endpoints : this.#zones.get(zone)
    if (ofZone === undefined && !hasFallback) {
      throw violation('QUERY', 'networkZone', `network zone '${zone}' does not exist`)
    }
    const communicationEndpoints = ofZone ?? this.endpoints
    return {
      tenantUUID: this.tenantId,
      tenantToken: this.tenantToken,
      communicationEndpoints,
      formattedCommunicationEndpoints: communicationEndpoints.join(';'),
    }
  }

  forGateways(): GatewayConnectionInfo {
    const { tenantId: tenantUUID, tenantToken, endpoints } = this
    return { tenantUUID, tenantToken, communicationEndpoints: endpoints.join(',') }
  }
}
