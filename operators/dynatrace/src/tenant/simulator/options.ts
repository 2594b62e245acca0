/** Options of simulated tenants. */
import type { Clock } from '@reeve/http'
import type { RandomBytes } from './random-text.ts'

/** An API token. */
export interface TokenOptions {
  /** By this name it appears on the page and in the calls; the keys of the token Secret are good names. */
  readonly name: string
  /** @default a random one */
  readonly value?: string
  /** @default the scopes that the operator needs for `apiToken` or `dataIngestToken`, none for other names */
  readonly scopes?: readonly string[]
}

/** An OAuth client of the platform, as an EdgeConnect uses it. */
export interface OAuthClientOptions {
  readonly id: string
  /** @default a random one */
  readonly secret?: string
  /** Scopes it may request. @default all that an EdgeConnect needs */
  readonly scopes?: readonly string[]
}

/** Endpoints that agents of a network zone should talk to. */
export interface NetworkZoneOptions {
  readonly name: string
  readonly endpoints: readonly string[]
}

/** One tenant. Everything but its id may be changed later through its state. */
export interface TenantOptions {
  /** Letters, digits and `-`; also the tenant UUID that agents see. */
  readonly id: string
  /** @default `apiToken` and `dataIngestToken` */
  readonly tokens?: readonly TokenOptions[]
  /** @default one client with all scopes */
  readonly oauthClients?: readonly OAuthClientOptions[]
  /** What agents present to the server. @default a random one */
  readonly tenantToken?: string
  /** Where agents send data. @default the simulator itself */
  readonly endpoints?: readonly string[]
  /** @default none */
  readonly networkZones?: readonly NetworkZoneOptions[]
  /** The newest OneAgent, in the form `n.n.n.n-n`. @default 1.321.57.20250812-101530 */
  readonly agentVersion?: string
  /** The newest ActiveGate. @default 1.321.42.20250811-083045 */
  readonly gatewayVersion?: string
  /** Size of the code-module ZIP with all technologies; up to 2 GiB. @default 1 MiB */
  readonly agentSizeBytes?: number
}

/** Names and times of the server certificate. */
export interface SimulatorTlsOptions {
  /** DNS names and IP addresses beside localhost and the address listened on. The first one appears in URLs. @default none */
  readonly hosts?: readonly string[]
  /** @default 'TLSv1.2', as a tenant accepts it */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
}

/** How the registry authenticates. */
export interface RegistryOptions {
  /**
   * `bearer`: the usual token dance; public repositories also for anonymous clients. `basic`: user and password with
   * every request. `none`: everything is public. @default 'bearer'
   */
  readonly auth?: 'bearer' | 'basic' | 'none'
  /** Size of the code modules inside the images. They are kept in memory: at most 16 MiB. @default 64 KiB */
  readonly agentSizeBytes?: number
}

/** Options of `startTenantSimulator`. */
export interface SimulatorOptions {
  /** @default one tenant, `abc12345` */
  readonly tenants?: readonly TenantOptions[]
  /** 0 takes a free one. @default 0 */
  readonly port?: number
  /** Address to listen on. @default '127.0.0.1' */
  readonly host?: string
  readonly tls?: SimulatorTlsOptions
  readonly registry?: RegistryOptions
  /** Time of tokens, events and delays. Certificates follow the machine, because TLS clients do. @default the machine's */
  readonly clock?: Clock
  /** @default the machine's */
  readonly random?: RandomBytes
  /** How many calls are recorded. @default 1000 */
  readonly maxCalls?: number
}
