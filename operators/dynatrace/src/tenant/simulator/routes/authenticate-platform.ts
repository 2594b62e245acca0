/** Who is calling the platform, and may they. */

import type { Call } from '../http/call.ts'
import type { SimulatedResponse } from '../http/response.ts'
import type { PathParameters, Route } from '../http/router.ts'
import { Refusal } from '../refusal.ts'
import type { AccessGrant } from '../state/oauth-clients.ts'
import type { TenantState } from '../state/tenant-state.ts'

/** A call of the platform of a tenant. */
export interface PlatformRoute extends Pick<Route, 'operation' | 'method' | 'path' | 'errors'> {
  /** All of these are needed. */
  readonly scopes: readonly string[]
  handle(tenant: TenantState, call: Call, parameters: PathParameters): SimulatedResponse | Promise<SimulatedResponse>
}

/**
 * The tenant that issued the access token of a call. Tokens differ between tenants, so that they can share one address:
 * `apiServer` of an EdgeConnect is a host name without a path.
 */
export function findGrant(
  tenants: ReadonlyMap<string, TenantState>,
  { credentials }: Call,
): { readonly tenant: TenantState; readonly grant: AccessGrant } | undefined {
  if (credentials?.scheme !== 'bearer') return undefined
  for (const tenant of tenants.values()) {
    const grant = tenant.oauth.grant(credentials.value)
    if (grant !== undefined) return { tenant, grant }
  }
  return undefined
}

/** A route that is only reached with an access token that has the scopes. */
export function platformRoute(tenants: ReadonlyMap<string, TenantState>, route: PlatformRoute): Route {
  const { operation, method, path, errors, scopes } = route
  return {
    operation,
    method,
    path,
    errors,
    area: 'platform',
    handle(call, parameters) {
      const found = findGrant(tenants, call)
      if (found === undefined || (call.tenant !== undefined && call.tenant !== found.tenant)) {
        throw new Refusal(401, 'The access token is missing, unknown or has expired.')
      }
      const missingScopes = scopes.filter((scope) => !found.grant.scopes.includes(scope))
      if (missingScopes.length > 0) {
        throw new Refusal(403, `The access token lacks scopes: ${missingScopes.join(', ')}`, { missingScopes })
      }
      return route.handle(found.tenant, call, parameters)
    },
  }
}
