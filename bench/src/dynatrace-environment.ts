/** The environment of the Dynatrace benchmarks, in a process of its own: what it costs is not the operator's. */
import { startEnvironmentSimulator } from '@reeve/dynatrace/environment/simulator'

/** A tenant, and how an operator gets in. */
export interface BenchTenant {
  readonly id: string
  readonly apiUrl: string
  readonly apiToken: string
  readonly dataIngestToken: string
}

/** What the process says when it answers. */
export interface BenchEnvironmentReady {
  readonly tenants: readonly BenchTenant[]
  readonly certificate: string
}

const simulator = await startEnvironmentSimulator({ tenants: process.argv.slice(2).map((id) => ({ id })) })
const ready: BenchEnvironmentReady = {
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
