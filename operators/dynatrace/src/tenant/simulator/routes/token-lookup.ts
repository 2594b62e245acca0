/** `POST /v2/apiTokens/lookup`: what a token may do. */
import { json } from '../http/response.ts'
import type { Route } from '../http/router.ts'
import { publicPart } from '../random-text.ts'
import { Refusal, violation } from '../refusal.ts'
import { requireScope } from '../state/api-tokens.ts'
import { tenantRoute } from './authenticate.ts'

/** A token may always be looked up with itself; for another one a scope is needed. */
export const tokenLookupRoutes: readonly Route[] = [
  tenantRoute({
    operation: 'token-lookup',
    method: 'POST',
    path: '/v2/apiTokens/lookup',
    scopes: [],
    async handle(tenant, call, _parameters, caller) {
      const { token: value } = await call.jsonObject()
      if (typeof value !== 'string' || value === '') throw violation('PAYLOAD_BODY', 'token', 'must not be empty')
      if (value !== caller.value) requireScope(caller, 'apiTokens.read', 'apiTokens.write')
      const token = tenant.tokens.find(value)
      if (token === undefined) throw new Refusal(404, 'Token does not exist.')
      return json(200, {
        id: publicPart(token.value) ?? token.name,
        name: token.name,
        enabled: true,
        personalAccessToken: false,
        owner: 'simulator',
        creationDate: new Date(token.createdMs).toISOString(),
        ...(token.lastUsedMs !== undefined && { lastUsedDate: new Date(token.lastUsedMs).toISOString() }),
        scopes: token.scopes,
      })
    },
  }),
]
