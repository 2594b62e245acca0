/** The EdgeConnect API of the platform. */
import { empty, json } from '../http/response.ts'
import type { Route } from '../http/router.ts'
import { violation } from '../refusal.ts'
import type { EdgeConnectObject } from '../state/edge-connects.ts'
import type { TenantState } from '../state/tenant-state.ts'
import { type PlatformRoute, platformRoute } from './authenticate-platform.ts'

const PATH = '/platform/app-engine/edge-connect/v1/edge-connects'
const READ = 'app-engine:edge-connects:read'
const WRITE = 'app-engine:edge-connects:write'
const DELETE = 'app-engine:edge-connects:delete'

const CALLS: readonly Omit<PlatformRoute, 'errors'>[] = [
  {
    operation: 'edge-connect-list',
    method: 'GET',
    path: PATH,
    scopes: [READ],
    handle({ edgeConnects }, { query }) {
      const name = readNameFilter(query.get('filter'))
      const fields = (query.get('add-fields') ?? '').split(',')
      const found = edgeConnects.list().filter((object) => name === undefined || object.name === name)
      const items = found.map((object) => inList(object, fields))
      return json(200, { edgeConnects: items, totalCount: items.length, pageSize: Math.max(items.length, 20) })
    },
  },
  {
    operation: 'edge-connect-get',
    method: 'GET',
    path: `${PATH}/:id`,
    scopes: [READ],
    handle: ({ edgeConnects }, _call, { id = '' }) => json(200, whole(edgeConnects.get(id))),
  },
  {
    operation: 'edge-connect-create',
    method: 'POST',
    path: PATH,
    scopes: [WRITE, 'oauth2:clients:manage'],
    async handle({ edgeConnects }, call) {
      const { object, oauthClientSecret, oauthClientResource } = edgeConnects.create(await call.jsonObject())
      return json(201, { ...whole(object), oauthClientSecret, oauthClientResource })
    },
  },
  {
    operation: 'edge-connect-update',
    method: 'PUT',
    path: `${PATH}/:id`,
    scopes: [WRITE],
    handle: async ({ edgeConnects }, call, { id = '' }) =>
      json(200, whole(edgeConnects.update(id, await call.jsonObject()))),
  },
  {
    operation: 'edge-connect-delete',
    method: 'DELETE',
    path: `${PATH}/:id`,
    scopes: [DELETE],
    handle({ edgeConnects }, _call, { id = '' }) {
      edgeConnects.delete(id)
      return empty(204)
    },
  },
]

/** List, get, create, update, delete. */
export function edgeConnectRoutes(tenants: ReadonlyMap<string, TenantState>): readonly Route[] {
  return CALLS.map((call) => platformRoute(tenants, { ...call, errors: 'platform' }))
}

function readNameFilter(filter: string | null): string | undefined {
  if (filter === null || filter === '') return undefined
  const [, name] = /^\s*name\s*=\s*'([^']*)'\s*$/.exec(filter) ?? []
  if (name === undefined) throw violation('QUERY', 'filter', "write name='…'")
  return name
}

function whole({ modifiedMs, ...object }: EdgeConnectObject) {
  return {
    ...object,
    metadata: { instances: [], oauthClientStatus: 'ACTIVE' },
    modificationInfo: { lastModifiedBy: 'simulator', lastModifiedTime: new Date(modifiedMs).toISOString() },
  }
}

/** Lists have few fields; others must be requested. */
function inList({ id, name, managedByDynatraceOperator }: EdgeConnectObject, fields: readonly string[]) {
  return {
    id,
    name,
    ...(fields.includes('managedByDynatraceOperator') && { managedByDynatraceOperator }),
  }
}
