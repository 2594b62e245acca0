/** The token endpoint of the single sign-on: OAuth clients exchange their secret for access tokens. */

import type { Call } from '../http/call.ts'
import { json } from '../http/response.ts'
import type { Route } from '../http/router.ts'
import { Refusal } from '../refusal.ts'
import type { TenantState } from '../state/tenant-state.ts'

/** Where clients request access tokens. */
export const TOKEN_PATH = '/sso/oauth2/token'

/** One endpoint for all tenants, as in reality: a client belongs to one of them. */
export function ssoRoutes(tenants: ReadonlyMap<string, TenantState>): readonly Route[] {
  return [
    {
      operation: 'oauth-token',
      method: 'POST',
      area: 'simulator',
      path: TOKEN_PATH,
      errors: 'oauth',
      async handle(call) {
        const form = await call.form()
        if (form.get('grant_type') !== 'client_credentials') {
          throw new Refusal(400, 'Only client_credentials is granted.', { reason: 'unsupported_grant_type' })
        }
        const { id, secret } = readClient(call, form)
        const tenant = [...tenants.values()].find(({ oauth }) => oauth.get(id) !== undefined)
        if (tenant === undefined) {
          throw new Refusal(401, 'Client authentication failed.', { reason: 'invalid_client' })
        }
        call.tenant = tenant
        call.tokenName = id
        const wanted = (form.get('scope') ?? '').split(' ').filter((scope) => scope !== '')
        const { accessToken, grant } = tenant.oauth.exchange(id, secret, wanted)
        const resource = form.get('resource')
        return json(200, {
          access_token: accessToken,
          token_type: 'Bearer',
          expires_in: Math.floor(tenant.oauth.lifetimeMs / 1_000),
          scope: grant.scopes.join(' '),
          ...(resource !== null && { resource }),
        })
      },
    },
  ]
}

/** In the header, each part form-encoded, or in the body. */
function readClient(call: Call, form: URLSearchParams): { readonly id: string; readonly secret: string } {
  const { credentials } = call
  if (credentials?.scheme !== 'basic') {
    return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' }
  }
  const [id = '', ...rest] = Buffer.from(credentials.value, 'base64').toString().split(':')
  return { id: decode(id), secret: decode(rest.join(':')) }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    // Not encoded at all, which some clients do.
    return text
  }
}
