/** The other side of the download benchmark, in a separate process, so that its memory does not count. */
import { startTenantSimulator } from '@reeve/dynatrace/tenant/simulator'

const sizeBytes = Number(process.argv[2])
const tenant = 'bench123'
const simulator = await startTenantSimulator({ tenants: [{ id: tenant, agentSizeBytes: sizeBytes }] })
process.send?.({
  apiUrl: simulator.url(tenant),
  apiToken: simulator.tenant(tenant).tokens.get('apiToken')?.value ?? '',
  version: simulator.tenant(tenant).versions.agent,
  certificate: simulator.caCertificate,
})
process.on('disconnect', () => void simulator.close())
