/** Downloads of code modules. */
import { AgentArchives } from '../agent/agent-archive.ts'
import { TECHNOLOGIES } from '../agent/agent-files.ts'
import { downloadResponse } from '../http/byte-range.ts'
import type { Call } from '../http/call.ts'
import type { SimulatedResponse } from '../http/response.ts'
import type { PathParameters, Route } from '../http/router.ts'
import { Refusal, violation } from '../refusal.ts'
import type { TenantState } from '../state/tenant-state.ts'
import { tenantRoute } from './authenticate.ts'
import { readInstaller } from './installer-parameters.ts'

const PATH = '/v1/deployment/installer/agent/:os/:type'

/** A version by number, and the newest. */
export function agentDownloadRoutes(): readonly Route[] {
  const archives = new AgentArchives()
  const shared = { operation: 'agent-download', method: 'GET', scopes: ['InstallerDownload'] } as const
  return [
    tenantRoute({
      ...shared,
      path: `${PATH}/version/:version`,
      handle: (tenant, call, parameters) => download(archives, tenant, call, parameters, parameters.version ?? ''),
    }),
    tenantRoute({
      ...shared,
      path: `${PATH}/latest`,
      handle: (tenant, call, parameters) => download(archives, tenant, call, parameters, tenant.versions.agent),
    }),
  ]
}

async function download(
  archives: AgentArchives,
  tenant: TenantState,
  { query, headers }: Call,
  parameters: PathParameters,
  version: string,
): Promise<SimulatedResponse> {
  const { type, flavor, arch } = readInstaller(parameters, query)
  if (type !== 'paas') throw new Refusal(404, `Only code modules (installer type paas) are simulated, not ${type}.`)
  if (!/^\d+\.\d+\.\d+\.\d+-\d+$/.test(version)) {
    throw violation('PATH', 'version', `'${version}' has not the form n.n.n.n-n`)
  }
  if (!tenant.versions.available().includes(version)) throw new Refusal(404, `There is no agent of version ${version}.`)
  const { id, connectionInfo } = tenant
  const { source, etag } = await archives.get({
    version,
    arch,
    flavor,
    technologies: readTechnologies(query),
    sizeBytes: tenant.agentSizeBytes,
    ...(query.get('skipMetadata') !== 'true' && {
      tenant: { id, token: connectionInfo.tenantToken, endpoints: connectionInfo.endpoints },
    }),
  })
  return downloadResponse(headers, source, {
    etag,
    contentType: 'application/octet-stream',
    headers: { 'content-disposition': `attachment; filename="Dynatrace-OneAgent-PaaS-${version}.zip"` },
  })
}

/** *Errors*: 400 naming a technology that does not exist. */
function readTechnologies(query: URLSearchParams): readonly string[] {
  const wanted = query.getAll('include')
  const known: readonly string[] = ['all', ...TECHNOLOGIES]
  for (const each of wanted) {
    if (!known.includes(each)) {
      throw violation('QUERY', 'include', `'${each}' must be any of [${known.join(', ')}]`)
    }
  }
  return wanted.length === 0 ? ['all'] : [...new Set(wanted)].sort()
}
