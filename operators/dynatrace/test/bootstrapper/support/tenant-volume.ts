/** A simulated tenant, and the input of an init container that downloads from it. */
import {
  type SimulatorOptions,
  startTenantSimulator,
  type TenantSimulator,
} from '../../../src/tenant/simulator/index.ts'
import { INPUT } from './pod.ts'

const TENANT = 'abc12345'

/** A tenant with an agent. */
export interface DownloadTenant extends AsyncDisposable {
  readonly simulator: TenantSimulator
  readonly token: string
  readonly version: string
  /** Files of the volumes of an init container; `more` changes `dtclient.config`. */
  input(more?: Readonly<Record<string, unknown>>): Readonly<Record<string, string>>
}

/** Starts one. */
export async function downloadTenant(agentSizeBytes: number, options: SimulatorOptions = {}): Promise<DownloadTenant> {
  const simulator = await startTenantSimulator({ tenants: [{ id: TENANT, agentSizeBytes }], ...options })
  const tenant = simulator.tenant(TENANT)
  const token = tenant.tokens.get('apiToken')?.value ?? ''
  return {
    simulator,
    token,
    version: tenant.versions.agent,
    input(more = {}) {
      const config = {
        url: simulator.url(TENANT),
        apiToken: token,
        proxy: '',
        noProxy: '',
        skipCertCheck: false,
        ...more,
      }
      const files = { ...INPUT, 'dtclient.config': JSON.stringify(config), 'trusted.pem': simulator.caCertificate }
      return Object.fromEntries(Object.entries(files).map(([name, content]) => [`input/${name}`, content]))
    },
    [Symbol.asyncDispose]: () => simulator.close(),
  }
}
