/** The tenant of the Dynatrace benchmarks, in a separate process: its cost does not count. */
import { startTenantSimulator } from '@reeve/dynatrace/tenant/simulator'

/** A tenant, and how an operator gets in. */
export interface BenchTenant {
  readonly id: string
  readonly apiUrl: string
  readonly apiToken: string
  readonly dataIngestToken: string
}

/** What the process prints when it is ready. */
export interface BenchTenantsReady {
  readonly tenants: readonly BenchTenant[]
  readonly certificate: string
}

const simulator = await startTenantSimulator({ tenants: process.argv.slice(2).map((id) => ({ id })) })
const ready: BenchTenantsReady = {
  tenants: simulator.tenants().map(({ id, tokens }) => ({
    id,
    apiUrl: simulator.url(id),
    apiToken: tokens.get('apiToken')?.value ?? '',
    dataIngestToken: tokens.get('dataIngestToken')?.value ?? '',
  })),
  certificate: simulator.caCertificate,
}
process.send?.(ready)
process.on('disconnect', () => void simulator.close())
