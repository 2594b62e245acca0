/** Everything that one tenant knows. */
import type { Clock } from '@reeve/http'
import { MAX_AGENT_BYTES, TENANT_DEFAULTS } from '../defaults.ts'
import type { TenantOptions } from '../options.ts'
import { type RandomBytes, randomText } from '../random-text.ts'
import { SimulatorError } from '../simulator-error.ts'
import { ActiveGateTokens } from './active-gate-tokens.ts'
import { ApiTokens } from './api-tokens.ts'
import { ConnectionInfo } from './connection-info.ts'
import { EdgeConnects } from './edge-connects.ts'
import { HostsAndEvents } from './hosts-and-events.ts'
import { OAuthClients } from './oauth-clients.ts'
import { ProcessModuleConfigs } from './process-module-config.ts'
import { Settings } from './settings.ts'
import { Versions } from './versions.ts'

/** The state of a tenant. A test reads and changes it directly; an operator does both through the API. */
export class TenantState {
  readonly id: string
  readonly tokens: ApiTokens
  readonly connectionInfo: ConnectionInfo
  readonly versions: Versions
  readonly processModuleConfig = new ProcessModuleConfigs()
  readonly activeGateTokens: ActiveGateTokens
  readonly hosts: HostsAndEvents
  readonly settings: Settings
  readonly oauth: OAuthClients
  readonly edgeConnects: EdgeConnects
  /** Size of the code-module ZIP with all technologies. */
  readonly agentSizeBytes: number

  constructor(options: TenantOptions, defaultEndpoint: () => string, clock: Clock, random: RandomBytes) {
    this.id = tenantId(options.id)
    this.agentSizeBytes = agentSize(options.agentSizeBytes)
    this.tokens = new ApiTokens(clock, random)
    for (const token of options.tokens ?? [{ name: 'apiToken' }, { name: 'dataIngestToken' }]) this.tokens.add(token)
    this.connectionInfo = new ConnectionInfo(
      this.id,
      options.tenantToken ?? randomText(random, 16),
      options.endpoints ?? (() => [defaultEndpoint()]),
      options.networkZones,
    )
    this.versions = new Versions(options.agentVersion, options.gatewayVersion)
    this.activeGateTokens = new ActiveGateTokens(clock, random)
    this.hosts = new HostsAndEvents(clock, random)
    this.settings = new Settings(clock, random)
    this.oauth = new OAuthClients(clock, random)
    for (const client of options.oauthClients ?? [{}]) this.oauth.add(client)
    this.edgeConnects = new EdgeConnects(this.id, this.oauth, clock, random)
  }
}

function tenantId(id: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/.test(id)) return id
  throw new SimulatorError(
    'SIMULATOR_OPTIONS',
    `the tenant id ${JSON.stringify(id)} is invalid: use up to 63 letters, digits and -, and do not start with -`,
  )
}

function agentSize(sizeBytes: number = TENANT_DEFAULTS.agentSizeBytes): number {
  if (Number.isInteger(sizeBytes) && sizeBytes >= 0 && sizeBytes <= MAX_AGENT_BYTES) return sizeBytes
  throw new SimulatorError(
    'SIMULATOR_OPTIONS',
    `agentSizeBytes is ${sizeBytes}: write a whole number from 0 to ${MAX_AGENT_BYTES} (2 GiB)`,
  )
}
