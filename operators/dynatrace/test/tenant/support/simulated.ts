/** A simulated tenant and a client that trusts it. */

import {
  createPlatformClient,
  type PlatformClient,
  type PlatformClientOptions,
} from '../../../src/tenant/client/platform/platform-client.ts'
import {
  createTenantClient,
  type TenantClient,
  type TenantClientOptions,
} from '../../../src/tenant/client/tenant-client.ts'
import {
  type SimulatorOptions,
  startTenantSimulator,
  type TenantSimulator,
} from '../../../src/tenant/simulator/index.ts'

/** The one tenant of these tests. */
export const TENANT = 'abc12345'

/** Quick retries: these tests are about what happens, not when. */
export const QUICK = { maxRetries: 2, baseDelayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 2_000 }

/** A simulator and clients for it, closed together. */
export interface Simulated extends AsyncDisposable {
  readonly simulator: TenantSimulator
  /** Of the token secret, by key. */
  token(name: string): string
  client(options?: Partial<TenantClientOptions>): TenantClient
  platform(options?: Partial<PlatformClientOptions>): PlatformClient
  /** Names of the calls received since the last time, in order. */
  received(): readonly string[]
}

/** Starts a simulator. */
export async function simulated(options: SimulatorOptions = {}): Promise<Simulated> {
  const simulator = await startTenantSimulator(options)
  const open: (TenantClient | PlatformClient)[] = []
  const tenant = simulator.tenant(TENANT)
  const token = (name: string) => tenant.tokens.get(name)?.value ?? ''
  const common = { trustedCertificates: simulator.caCertificate, env: {}, retries: QUICK }
  return {
    simulator,
    token,
    client(more = {}) {
      const client = createTenantClient({
        apiUrl: simulator.url(TENANT),
        apiToken: token('apiToken'),
        ...common,
        ...more,
      })
      open.push(client)
      return client
    },
    platform(more = {}) {
      const [oauth] = tenant.oauth.list()
      const client = createPlatformClient({
        apiServer: simulator.authority,
        oauth: {
          endpoint: `https://${simulator.authority}/sso/oauth2/token`,
          clientId: oauth?.id ?? '',
          clientSecret: oauth?.secret ?? '',
        },
        hasKubernetesAutomation: true,
        ...common,
        ...more,
      })
      open.push(client)
      return client
    },
    received() {
      const operations = simulator.calls().map(({ operation }) => operation)
      simulator.clearCalls()
      return operations
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(open.map((client) => client.close()))
      await simulator.close()
    },
  }
}
