/** Where agents and gateways report to, and the secret they share with their tenant. */
import { Type } from 'typebox'
import type { CallExecutor, CallOptions } from './call-executor.ts'
import type { ClassicApi } from './classic-api.ts'
import { type CommunicationHost, communicationHosts } from './communication-hosts.ts'
import { refusalOf } from './errors.ts'

/** Connection info for agents. */
export interface OneAgentConnectionInfo {
  readonly tenantUuid: string
  /** A secret. */
  readonly tenantToken: string
  /** All endpoints in one text, passed to agents unchanged. */
  readonly endpoints: string
  /** The usable ones among the endpoints, each once. */
  readonly hosts: readonly CommunicationHost[]
}

/** Connection info for gateways. */
export interface ActiveGateConnectionInfo {
  readonly tenantUuid: string
  /** A secret. */
  readonly tenantToken: string
  /** Comma-separated, as the tenant wrote it. */
  readonly endpoints: string
}

const Text = Type.Optional(Type.String())
const OneAgentResponse = Type.Object({
  tenantUUID: Text,
  tenantToken: Text,
  communicationEndpoints: Type.Optional(Type.Array(Type.String())),
  formattedCommunicationEndpoints: Text,
})
const ActiveGateResponse = Type.Object({ tenantUUID: Text, tenantToken: Text, communicationEndpoints: Text })

const PATH = '/v1/deployment/installer'

/** Calls about connections. */
export class ConnectionInfoCalls {
  readonly #api: ClassicApi
  readonly #executor: CallExecutor

  constructor(api: ClassicApi, executor: CallExecutor) {
    this.#api = api
    this.#executor = executor
  }

  /**
   * For agents, in a network zone if one is given. An unknown zone gives an empty result rather than an
   * error: the gateway that opens it may be installed later.
   */
  async oneAgent(options: CallOptions & { readonly networkZone?: string } = {}): Promise<OneAgentConnectionInfo> {
    const { networkZone } = options
    const query = networkZone ? `?networkZone=${encodeURIComponent(networkZone)}&defaultZoneFallback=true` : ''
    const call = this.#api.call({
      name: 'OneAgent connection info',
      path: `${PATH}/agent/connectioninfo${query}`,
      token: 'paas',
    })
    try {
      const response = await this.#executor.json(OneAgentResponse, call, options)
      return {
        tenantUuid: response.tenantUUID ?? '',
        tenantToken: response.tenantToken ?? '',
        endpoints: response.formattedCommunicationEndpoints ?? '',
        hosts: communicationHosts(response.communicationEndpoints ?? []),
      }
    } catch (error) {
      if (refusalOf(error)?.status !== 400) throw error
      return { tenantUuid: '', tenantToken: '', endpoints: '', hosts: [] }
    }
  }

  /** For gateways. */
  async activeGate(options: CallOptions = {}): Promise<ActiveGateConnectionInfo> {
    const call = this.#api.call({
      name: 'ActiveGate connection info',
      path: `${PATH}/gateway/connectioninfo`,
      token: 'paas',
    })
    const response = await this.#executor.json(ActiveGateResponse, call, options)
    return {
      tenantUuid: response.tenantUUID ?? '',
      tenantToken: response.tenantToken ?? '',
      endpoints: response.communicationEndpoints ?? '',
    }
  }
}
