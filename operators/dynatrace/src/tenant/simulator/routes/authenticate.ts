/** Who is calling, and may they. */

import type { Call } from '../http/call.ts'
import type { SimulatedResponse } from '../http/response.ts'
import type { PathParameters, Route } from '../http/router.ts'
import { Refusal } from '../refusal.ts'
import { type ApiToken, requireScope } from '../state/api-tokens.ts'
import type { TenantState } from '../state/tenant-state.ts'

/** The API token of a call. *Errors*: {@link Refusal} 401. */
function authenticate(call: Call): { readonly tenant: TenantState; readonly token: ApiToken } {
  const { tenant, credentials } = call
  if (tenant === undefined) throw new Refusal(404, 'There is no such tenant.')
  if (credentials?.scheme !== 'api-token' || credentials.value === '') {
    throw new Refusal(401, 'Missing authorization parameter.')
  }
  const token = tenant.tokens.find(credentials.value)
  if (token === undefined) throw new Refusal(401, 'Token Authentication failed')
  tenant.tokens.touch(token)
  return { tenant, token }
}

/** A call of the classic API of a tenant. */
export interface TenantRoute extends Pick<Route, 'operation' | 'method' | 'path'> {
  /** @default 'tenant' */
  readonly errors?: Route['errors']
  /** One of these is needed; none when empty. */
  readonly scopes: readonly string[]
  handle(
    tenant: TenantState,
    call: Call,
    parameters: PathParameters,
    token: ApiToken,
  ): SimulatedResponse | Promise<SimulatedResponse>
}

/** A route that is only reached with a token of the tenant that has one of the scopes. */
export function tenantRoute(route: TenantRoute): Route {
  const { operation, method, path, errors = 'tenant', scopes } = route
  return {
    operation,
    method,
    path,
    errors,
    area: 'tenant',
    handle(call, parameters) {
      const { tenant, token } = authenticate(call)
      requireScope(token, ...scopes)
      return route.handle(tenant, call, parameters, token)
    },
  }
}
