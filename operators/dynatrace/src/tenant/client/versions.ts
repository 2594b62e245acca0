/** Which versions of agents and gateways a tenant offers. */
import { Type } from 'typebox'
import type { CallExecutor, CallOptions } from './call-executor.ts'
import type { ClassicApi } from './classic-api.ts'
import { TenantCallError } from './errors.ts'
import type { InstallerTarget } from './installer-target.ts'

const LatestAgent = Type.Object({ latestAgentVersion: Type.Optional(Type.String()) })
const LatestGateway = Type.Object({ latestGatewayVersion: Type.Optional(Type.String()) })
const Available = Type.Object({ availableVersions: Type.Optional(Type.Array(Type.String())) })

const PATH = '/v1/deployment/installer'

/** Calls about versions. */
export class VersionCalls {
  readonly #api: ClassicApi
  readonly #executor: CallExecutor

  constructor(api: ClassicApi, executor: CallExecutor) {
    this.#api = api
    this.#executor = executor
  }

  /** The version an agent would be updated to; empty when the tenant names none. */
  async latestAgent(target: InstallerTarget, options: CallOptions = {}): Promise<string> {
    const name = 'latest agent version'
    const { path, arch } = installerPath(name, target)
    const query = `?bitness=64&flavor=${encodeURIComponent(target.flavor)}${arch}`
    const call = this.#api.call({ name, path: `${PATH}/agent/${path}/latest/metainfo${query}`, token: 'paas' })
    return (await this.#executor.json(LatestAgent, call, options)).latestAgentVersion ?? ''
  }

  /** The version a gateway would be updated to; empty when the tenant names none. */
  async latestGateway(options: CallOptions = {}): Promise<string> {
    const path = `${PATH}/gateway/unix/latest/metainfo`
    const call = this.#api.call({ name: 'latest gateway version', path, token: 'paas' })
    return (await this.#executor.json(LatestGateway, call, options)).latestGatewayVersion ?? ''
  }

  /** All agent versions that can be downloaded. */
  async availableAgents(target: InstallerTarget, options: CallOptions = {}): Promise<readonly string[]> {
    const name = 'available agent versions'
    const { path, arch } = installerPath(name, target)
    const query = `?flavor=${encodeURIComponent(target.flavor)}${arch}`
    const call = this.#api.call({ name, path: `${PATH}/agent/versions/${path}${query}`, token: 'paas' })
    return (await this.#executor.json(Available, call, options)).availableVersions ?? []
  }
}

/** The segments of the path and the `arch` parameter that select an installer. */
export function installerPath(call: string, { os, type, arch }: InstallerTarget): { path: string; arch: string } {
  if (os === '') throw new TenantCallError(call, 'os must not be empty')
  if (type === '') throw new TenantCallError(call, 'the installer type must not be empty')
  const hasArch = type !== 'default' && arch !== undefined
  return {
    path: `${encodeURIComponent(os)}/${encodeURIComponent(type)}`,
    arch: hasArch ? `&arch=${encodeURIComponent(arch)}` : '',
  }
}
