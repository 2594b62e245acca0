/** Simulated tenants without a server: state, fault rules, a registry, and a response to every call. */
import { type Clock, type OutboundRequest, type OutboundResponse, type Sender, systemClock } from '@reeve/http'
import { CallLog, type ReceivedCall } from './call-log.ts'
import { TENANT_DEFAULTS } from './defaults.ts'
import { FaultRules } from './fault-rules.ts'
import { respondInProcess } from './http/in-process.ts'
import type { CallHandler } from './http/server.ts'
import type { SimulatorOptions } from './options.ts'
import { systemRandom } from './random-text.ts'
import { ImageRegistry } from './registry/registry.ts'
import { RegistryAccess } from './registry/registry-access.ts'
import { TOKEN_PATH } from './routes/sso.ts'
import { SimulatorError } from './simulator-error.ts'
import { TenantState } from './state/tenant-state.ts'
import { Switchboard } from './switchboard.ts'

/** Options of {@link SimulatedTenants}. */
export interface SimulatedTenantsOptions
  extends Pick<SimulatorOptions, 'tenants' | 'registry' | 'clock' | 'random' | 'maxCalls'> {
  /** Host and port by which clients call it. @default `environment.example.com` */
  readonly authority?: string
}

/**
 * The state and the responses of tenants. It opens no socket and starts nothing: clients in the same process
 * call it as a {@link Sender}, and with a simulated clock and chance every run is the same.
 *
 * @example
 * const tenant = new SimulatedTenants({ tenants: [{ id: 'abc12345' }], clock, random })
 * const client = createTenantClient({ apiUrl: tenant.url('abc12345'), apiToken, sender: tenant.sender })
 */
export class SimulatedTenants {
  /** Fault rules. */
  readonly faults: FaultRules
  /** The images that can be pulled. */
  readonly registry: ImageRegistry
  /** Who may pull them. */
  readonly registryAccess: RegistryAccess
  /** Sends requests straight into the tenant. Closing it does nothing, so that clients may share it. */
  readonly sender: Sender = { send: (request) => this.respond(request), close: async () => undefined }
  /** Responds to calls and records them. */
  protected readonly handler: CallHandler
  /** The names of all calls that it responds to, as in `calls()` and in fault rules. */
  readonly operations: readonly string[]
  /** Host and port by which clients call it. */
  #authority: string
  readonly #tenants = new Map<string, TenantState>()
  readonly #log: CallLog
  readonly #clock: Clock

  /** @param onCertificate called when TLS clients are to see an expired certificate, and when no longer */
  constructor(options: SimulatedTenantsOptions = {}, onCertificate: (isExpired: boolean) => void = () => undefined) {
    const { clock = systemClock, random = systemRandom, authority = 'environment.example.com' } = options
    this.#clock = clock
    this.#authority = authority
    this.#log = new CallLog(options.maxCalls)
    this.faults = new FaultRules(onCertificate)
    for (const tenant of options.tenants ?? [{ id: TENANT_DEFAULTS.id }]) {
      if (this.#tenants.has(tenant.id)) {
        throw new SimulatorError('SIMULATOR_OPTIONS', `there are two tenants ${tenant.id}: give one another id`)
      }
      const endpoint = () => `https://${this.authority}/communication`
      this.#tenants.set(tenant.id, new TenantState(tenant, endpoint, clock, random))
    }
    const { auth = 'bearer', agentSizeBytes } = options.registry ?? {}
    this.registry = new ImageRegistry(this.#tenants, () => this.authority, agentSizeBytes)
    this.registryAccess = new RegistryAccess(this.#tenants, auth, { clock, random })
    const switchboard = new Switchboard({
      tenants: this.#tenants,
      faults: this.faults,
      log: this.#log,
      registry: this.registry,
      registryAccess: this.registryAccess,
      clock,
      authority: () => this.authority,
    })
    this.handler = switchboard
    this.operations = switchboard.operations
  }

  /** Host and port of its address, as in the names of images. */
  get authority(): string {
    return this.#authority
  }

  /** The `apiUrl` of a DynaKube for the tenant. */
  url(tenantId: string): string {
    return `https://${this.#authority}/e/${this.tenant(tenantId).id}/api`
  }

  /** The `oauth.endpoint` of an EdgeConnect. */
  get tokenUrl(): string {
    return `https://${this.#authority}${TOKEN_PATH}`
  }

  /** *Errors*: {@link SimulatorError} `SIMULATOR_UNKNOWN_TENANT`. */
  tenant(id: string): TenantState {
    const tenant = this.#tenants.get(id)
    if (tenant !== undefined) return tenant
    const known = [...this.#tenants.keys()].join(', ')
    throw new SimulatorError('SIMULATOR_UNKNOWN_TENANT', `unknown tenant ${id}; use one of ${known}`)
  }

  /** Every tenant. */
  tenants(): readonly TenantState[] {
    return [...this.#tenants.values()]
  }

  /** The calls received last, the oldest first. */
  calls(): readonly ReceivedCall[] {
    return this.#log.list()
  }

  /** Clears the calls received so far. */
  clearCalls(): void {
    this.#log.clear()
  }

  /** Responds to one request of a client in this process. *Errors*: `HttpConnectionError` when a fault cuts it. */
  respond(request: OutboundRequest): Promise<OutboundResponse> {
    return respondInProcess(this.handler, request, this.#clock)
  }

  /** A server knows its port when it listens. */
  protected useAuthority(authority: string): void {
    this.#authority = authority
  }
}
