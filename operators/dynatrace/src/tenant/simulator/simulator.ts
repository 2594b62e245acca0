/** The simulated tenant: tenants behind an HTTPS server. */
import { systemClock } from '@reeve/http'
import { HttpsServer } from './http/server.ts'
import { createTlsMaterial, type TlsMaterial } from './http/tls.ts'
import type { SimulatorOptions } from './options.ts'
import { SimulatedTenants } from './simulated-tenants.ts'

/**
 * Starts a server that simulates Dynatrace tenants.
 *
 * *Guarantees*: state lives as long as the simulator and is bounded; no token is kept in the calls; after `close`
 * nothing runs and no connection is open.
 *
 * @example
 * await using tenant = await startTenantSimulator({ tenants: [{ id: 'abc12345' }] })
 * const apiUrl = tenant.url('abc12345')
 * const apiToken = tenant.tenant('abc12345').tokens.get('apiToken')?.value
 */
export async function startTenantSimulator(options: SimulatorOptions = {}): Promise<TenantSimulator> {
  const { host = '127.0.0.1', port = 0, tls = {} } = options
  const ownHost = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const hosts = new Set([...(tls.hosts ?? []), ownHost, 'localhost', '*.localhost', '127.0.0.1', '::1'])
  const material = await createTlsMaterial([...hosts])
  const simulator = new TenantSimulator(options, material, tls.hosts?.[0] ?? ownHost)
  await simulator.listen(host, port)
  return simulator
}

/** A running simulator. */
export class TenantSimulator extends SimulatedTenants implements AsyncDisposable {
  /** The authority that signed the server's certificate, in PEM. */
  readonly caCertificate: string
  readonly #server: HttpsServer
  readonly #publicHost: string

  /** Use {@link startTenantSimulator}. */
  constructor(options: SimulatorOptions, material: TlsMaterial, publicHost: string) {
    super({ ...options, authority: '' }, (isExpired) =>
      this.#server.useCertificate(isExpired ? material.expired : material.serving),
    )
    this.caCertificate = material.caCertificate
    this.#publicHost = publicHost.includes(':') ? `[${publicHost}]` : publicHost
    this.#server = new HttpsServer(this.handler, material.serving, {
      clock: options.clock ?? systemClock,
      minVersion: options.tls?.minVersion ?? 'TLSv1.2',
    })
  }

  /** Called once by {@link startTenantSimulator}. */
  async listen(host: string, port: number): Promise<void> {
    const address = await this.#server.listen(host, port)
    this.useAuthority(`${this.#publicHost}:${address.port}`)
  }

  /** Finishes the calls in progress and stops. */
  close(): Promise<void> {
    return this.#server.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
