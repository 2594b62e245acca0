/** The simulated environment: tenants behind an HTTPS server. */
import { type Clock, systemClock } from '@reeve/kube'
import { CallLog, type ReceivedCall } from './call-log.ts'
import { TENANT_DEFAULTS } from './defaults.ts'
import { HttpsServer } from './http/server.ts'
import { createTlsMaterial, type TlsMaterial } from './http/tls.ts'
import type { SimulatorOptions } from './options.ts'
import { type RandomBytes, systemRandom } from './random-text.ts'
import { ImageRegistry } from './registry/registry.ts'
import { RegistryAccess } from './registry/registry-access.ts'
import { TOKEN_PATH } from './routes/sso.ts'
import { SimulatorError } from './simulator-error.ts'
import { Switchboard } from './switchboard.ts'
import { TenantState } from './tenant/tenant-state.ts'
import { Trouble } from './trouble.ts'

/**
 * Starts a server that answers like a Dynatrace environment.
 *
 * *Guarantees*: state lives as long as the simulator and is bounded; no token is kept in the calls; after `close`
 * nothing runs and no connection is open.
 *
 * @example
 * await using environment = await startEnvironmentSimulator({ tenants: [{ id: 'abc12345' }] })
 * const apiUrl = environment.url('abc12345')
 * const apiToken = environment.tenant('abc12345').tokens.get('apiToken')?.value
 */
export async function startEnvironmentSimulator(options: SimulatorOptions = {}): Promise<EnvironmentSimulator> {
  const { host = '127.0.0.1', port = 0, tls = {}, clock = systemClock, random = systemRandom } = options
  const ownHost = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const hosts = new Set([...(tls.hosts ?? []), ownHost, 'localhost', '*.localhost', '127.0.0.1', '::1'])
  const material = await createTlsMaterial([...hosts])
  const simulator = new EnvironmentSimulator(options, material, tls.hosts?.[0] ?? ownHost, { clock, random })
  await simulator.listen(host, port)
  return simulator
}

/** A running simulator. */
export class EnvironmentSimulator implements AsyncDisposable {
  /** The authority that signed the server's certificate, in PEM. */
  readonly caCertificate: string
  /** Switches for trouble. */
  readonly trouble: Trouble
  /** The images that can be pulled. */
  readonly registry: ImageRegistry
  /** Who may pull them. */
  readonly registryAccess: RegistryAccess
  readonly #tenants = new Map<string, TenantState>()
  readonly #log: CallLog
  readonly #server: HttpsServer
  readonly #publicHost: string
  #authority = ''

  /** Use {@link startEnvironmentSimulator}. */
  constructor(
    options: SimulatorOptions,
    material: TlsMaterial,
    publicHost: string,
    { clock, random }: { readonly clock: Clock; readonly random: RandomBytes },
  ) {
    this.caCertificate = material.caCertificate
    this.#publicHost = publicHost.includes(':') ? `[${publicHost}]` : publicHost
    this.#log = new CallLog(options.maxCalls)
    this.trouble = new Trouble((isExpired) =>
      this.#server.useCertificate(isExpired ? material.expired : material.serving),
    )
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
      trouble: this.trouble,
      log: this.#log,
      registry: this.registry,
      registryAccess: this.registryAccess,
      clock,
      authority: () => this.authority,
    })
    this.#server = new HttpsServer(switchboard, material.serving, {
      clock,
      minVersion: options.tls?.minVersion ?? 'TLSv1.2',
    })
  }

  /** Host and port by which the simulator is reached, as in the names of images. */
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
    throw new SimulatorError('SIMULATOR_UNKNOWN_TENANT', `there is no tenant ${id}: it is one of ${known}`)
  }

  /** Every tenant. */
  tenants(): readonly TenantState[] {
    return [...this.#tenants.values()]
  }

  /** The calls received last, the oldest first. */
  calls(): readonly ReceivedCall[] {
    return this.#log.list()
  }

  /** Forgets the calls received so far. */
  clearCalls(): void {
    this.#log.clear()
  }

  /** Called once by {@link startEnvironmentSimulator}. */
  async listen(host: string, port: number): Promise<void> {
    const address = await this.#server.listen(host, port)
    this.#authority = `${this.#publicHost}:${address.port}`
  }

  /** Answers what is under way and stops. */
  close(): Promise<void> {
    return this.#server.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
