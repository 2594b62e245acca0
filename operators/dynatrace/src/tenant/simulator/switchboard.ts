/** Finds the tenant and the route of a call, applies fault rules and responds. */
import type { Clock } from '@reeve/http'
import type { CallLog, CallOutcome } from './call-log.ts'
import type { FaultRules } from './fault-rules.ts'
import type { Call } from './http/call.ts'
import { errorResponse } from './http/error-response.ts'
import type { SimulatedResponse } from './http/response.ts'
import { type PathParameters, type Route, Router } from './http/router.ts'
import type { CallHandler } from './http/server.ts'
import { type FaultyResponse, injectFaults } from './inject-faults.ts'
import { Refusal } from './refusal.ts'
import type { ImageRegistry } from './registry/registry.ts'
import type { RegistryAccess } from './registry/registry-access.ts'
import { agentDownloadRoutes } from './routes/agent-download.ts'
import { findGrant } from './routes/authenticate-platform.ts'
import { controlRoutes } from './routes/control.ts'
import { deploymentRoutes } from './routes/deployment.ts'
import { edgeConnectRoutes } from './routes/edge-connects.ts'
import { hostAndEventRoutes } from './routes/hosts-and-events.ts'
import { registryRoutes } from './routes/registry.ts'
import { settingsRoutes } from './routes/settings.ts'
import { ssoRoutes } from './routes/sso.ts'
import { tokenLookupRoutes } from './routes/token-lookup.ts'
import type { TenantState } from './state/tenant-state.ts'

/** What the switchboard works with. */
export interface SwitchboardParts {
  readonly tenants: ReadonlyMap<string, TenantState>
  readonly faults: FaultRules
  readonly log: CallLog
  readonly registry: ImageRegistry
  readonly registryAccess: RegistryAccess
  readonly clock: Clock
  /** Host and port of the simulator. */
  authority(): string
}

/** Responds to every call of every API. */
export class Switchboard implements CallHandler {
  readonly #parts: SwitchboardParts
  readonly #router: Router

  constructor(parts: SwitchboardParts) {
    this.#parts = parts
    const { tenants } = parts
    this.#router = new Router([
      ...tokenLookupRoutes,
      ...deploymentRoutes(() => parts.authority()),
      ...agentDownloadRoutes(),
      ...settingsRoutes(tenants),
      ...hostAndEventRoutes,
      ...ssoRoutes(tenants),
      ...edgeConnectRoutes(tenants),
      ...registryRoutes(parts.registry, parts.registryAccess),
      ...controlRoutes({ ...parts, authority: () => parts.authority(), operations: () => this.operations }),
    ])
  }

  /** The names of all calls, as fault rules and the call log use them. */
  get operations(): readonly string[] {
    return this.#router.operations
  }

  async respond(call: Call, signal: AbortSignal): Promise<FaultyResponse> {
    const { area, path } = this.#locate(call)
    const match = this.#router.find(area, call.method, path)
    if (!('route' in match)) return { response: unknownCall(area, match.allowedMethods) }
    const { route, parameters } = match
    call.operation = route.operation
    call.isOwn = route.isOwn ?? false
    if (call.isOwn) return { response: await handle(route, call, parameters) }
    call.tokenName = this.#tokenName(call)
    const faults = this.#parts.faults.take(call)
    call.faults.push(...faults.map(({ kind }) => kind))
    const { clock } = this.#parts
    return injectFaults(faults, route.errors, () => handle(route, call, parameters), { clock, signal })
  }

  record(call: Call, outcome: CallOutcome): (outcome: CallOutcome) => void {
    return call.isOwn ? () => undefined : this.#parts.log.add(call, outcome)
  }

  /**
   * Tenants are distinguished by path (`/e/<id>/api`) or by the first label of the host name, as in the addresses of the
   * real ones; a lone tenant needs neither. On the platform the access token identifies them, too.
   */
  #locate(call: Call): { readonly area: Route['area']; readonly path: string } {
    const { tenants } = this.#parts
    const [, id, managedPath = '/'] = /^\/e\/([^/]+)\/api(\/.*)?$/.exec(call.path) ?? []
    if (id !== undefined) {
      call.tenant = tenants.get(id)
      return { area: 'tenant', path: managedPath }
    }
    const [label = ''] = call.host.split(/[.:]/, 1)
    const [lone] = tenants.size === 1 ? tenants.values() : []
    const addressed = tenants.get(label) ?? lone
    const [, apiPath] = /^\/api(\/.*)?$/.exec(call.path) ?? []
    if (apiPath !== undefined) {
      call.tenant = addressed
      return { area: 'tenant', path: apiPath }
    }
    if (!call.path.startsWith('/platform/')) return { area: 'simulator', path: call.path }
    call.tenant = addressed ?? findGrant(tenants, call)?.tenant
    return { area: 'platform', path: call.path }
  }

  #tokenName(call: Call): string | undefined {
    const { tenant, credentials } = call
    if (credentials?.scheme === 'bearer') return findGrant(this.#parts.tenants, call)?.grant.clientId
    if (credentials?.scheme !== 'api-token') return undefined
    return tenant?.tokens.find(credentials.value)?.name ?? '(unknown)'
  }
}

async function handle(route: Route, call: Call, parameters: PathParameters): Promise<SimulatedResponse> {
  try {
    return await route.handle(call, parameters)
  } catch (error) {
    if (error instanceof Refusal) return errorResponse(route.errors, error)
    throw error
  }
}

function unknownCall(area: Route['area'], allowedMethods: readonly string[]): SimulatedResponse {
  const refusal =
    allowedMethods.length === 0
      ? new Refusal(404, 'There is no such resource.')
      : new Refusal(405, 'HTTP method not allowed.', { headers: { allow: allowedMethods.join(', ') } })
  return errorResponse(area, refusal)
}
