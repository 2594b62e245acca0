/** What the operator would change in a tenant, read from the request with which it would do so. */

import { isRecord, type OutboundRequest } from '@reeve/http'
import { KNOWN_AFTER_APPLY } from '@reeve/plan'

/** Something that would change in a tenant. */
export interface TenantChange {
  readonly action: 'create' | 'change' | 'remove'
  /** Such as `setting builtin:cloud.kubernetes "cluster"`. */
  readonly what: string
  /** The host of the tenant. */
  readonly tenant: string
}

/** A change, and the response of the tenant. */
export interface ForeseenChange {
  readonly change: TenantChange
  readonly status: number
  readonly body: unknown
}

interface Row {
  readonly method: OutboundRequest['method']
  /** Of the end of the path. */
  readonly path: RegExp
  readonly action: TenantChange['action']
  what(body: unknown, id: string): string
  readonly status: number
  readonly response: unknown
}

/** Has the form of a token; it goes into a Secret that is never shown. */
const TOKEN = 'dt0g02.PLANNED.PLANNED'

const SETTINGS = /\/v2\/settings\/objects$/
const SETTING = /\/v2\/settings\/objects\/([^/]+)$/
const EDGE_CONNECTS = /\/edge-connect\/v1\/edge-connects$/
const EDGE_CONNECT = /\/edge-connect\/v1\/edge-connects\/([^/]+)$/

const ROWS: readonly Row[] = [
  {
    method: 'POST',
    path: SETTINGS,
    action: 'create',
    what: (body) => describeSetting(Array.isArray(body) ? body[0] : body),
    status: 200,
    response: [{ code: 200, objectId: KNOWN_AFTER_APPLY }],
  },
  {
    method: 'PUT',
    path: SETTING,
    action: 'change',
    what: (body) => describeSetting(body),
    status: 200,
    response: { code: 200 },
  },
  { method: 'DELETE', path: SETTING, action: 'remove', what: (_, id) => `setting ${id}`, status: 204, response: '' },
  {
    method: 'POST',
    path: /\/v2\/activeGateTokens$/,
    action: 'create',
    what: (body) => `ActiveGate token ${textAt(body, 'name')}`,
    status: 201,
    response: { id: 'dt0g02.PLANNED', token: TOKEN },
  },
  {
    method: 'POST',
    path: EDGE_CONNECTS,
    action: 'create',
    what: (body) => `EdgeConnect ${textAt(body, 'name')} and its OAuth client`,
    status: 201,
    response: {
      id: KNOWN_AFTER_APPLY,
      oauthClientId: KNOWN_AFTER_APPLY,
      oauthClientSecret: KNOWN_AFTER_APPLY,
      oauthClientResource: KNOWN_AFTER_APPLY,
    },
  },
  {
    method: 'PUT',
    path: EDGE_CONNECT,
    action: 'change',
    what: (body) => `EdgeConnect ${textAt(body, 'name')}`,
    status: 200,
    response: {},
  },
  {
    method: 'DELETE',
    path: EDGE_CONNECT,
    action: 'remove',
    what: (_, id) => `EdgeConnect with the id ${id}`,
    status: 204,
    response: '',
  },
]

/** Whether a request only reads, although its method is POST: token look-ups and requests for access tokens. */
export function isQuestion({ method, url, body }: OutboundRequest): boolean {
  if (method === 'GET') return true
  if (method !== 'POST') return false
  return url.pathname.endsWith('/v2/apiTokens/lookup') || String(body ?? '').includes('grant_type=client_credentials')
}

/** The change that a request would make; `undefined` for an unknown one. */
export function foresee({ method, url, body }: OutboundRequest): ForeseenChange | undefined {
  for (const row of ROWS) {
    const match = row.method === method ? row.path.exec(url.pathname) : null
    if (match === null) continue
    const what = row.what(body === undefined ? undefined : JSON.parse(String(body)), decodeURIComponent(match[1] ?? ''))
    return { change: { action: row.action, what, tenant: url.host }, status: row.status, body: row.response }
  }
  return undefined
}

/** The title identifies a setting; no other value is shown, as it may be secret. */
function describeSetting(setting: unknown): string {
  const value = isRecord(setting) ? setting.value : undefined
  const title = textAt(value, 'label') || textAt(value, 'config-item-title') || textAt(value, 'name')
  return `setting ${textAt(setting, 'schemaId')}${title === '' ? '' : ` "${title}"`}`
}

function textAt(value: unknown, field: string): string {
  const text = isRecord(value) ? value[field] : undefined
  return typeof text === 'string' ? text : ''
}
