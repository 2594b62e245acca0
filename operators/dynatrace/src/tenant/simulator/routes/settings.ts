/** Settings, through the classic API with an API token and through the platform with an OAuth client. */
import { isRecord } from '@reeve/http'
import type { Call } from '../http/call.ts'
import { empty, json, type SimulatedResponse } from '../http/response.ts'
import type { PathParameters, Route } from '../http/router.ts'
import { violation } from '../refusal.ts'
import { readSettingsDraft } from '../state/settings.ts'
import { querySettings, settingsItem } from '../state/settings-query.ts'
import type { TenantState } from '../state/tenant-state.ts'
import { tenantRoute } from './authenticate.ts'
import { platformRoute } from './authenticate-platform.ts'

/** One call, by either path. */
interface SettingsCall {
  readonly operation: string
  readonly method: Route['method']
  /** Below `/v2/settings`. */
  readonly path: string
  readonly access: 'read' | 'write'
  /** Of the classic API. @default 'tenant' */
  readonly errors?: Route['errors']
  handle(tenant: TenantState, call: Call, parameters: PathParameters): SimulatedResponse | Promise<SimulatedResponse>
}

const CALLS: readonly SettingsCall[] = [
  {
    operation: 'settings-list',
    method: 'GET',
    path: '/objects',
    access: 'read',
    handle({ settings }, { query }) {
      for (const schemaId of (query.get('schemaIds') ?? '').split(',')) if (schemaId !== '') settings.schema(schemaId)
      return json(200, querySettings(settings.list(), query))
    },
  },
  {
    operation: 'settings-create',
    method: 'POST',
    path: '/objects',
    access: 'write',
    errors: 'settings-write',
    async handle({ settings }, call) {
      const body = await call.json()
      if (!Array.isArray(body) || body.length === 0) throw violation('PAYLOAD_BODY', '', 'must be an array of objects')
      const drafts = body.map(readSettingsDraft)
      // All are checked before the first is written, so that a rejected request has changed nothing.
      for (const draft of drafts) settings.check(draft)
      if (call.query.get('validateOnly') === 'true')
        return json(
          200,
          drafts.map(() => ({ code: 200 })),
        )
      return json(
        200,
        drafts.map((draft) => ({ code: 200, objectId: settings.create(draft).objectId })),
      )
    },
  },
  {
    operation: 'settings-get',
    method: 'GET',
    path: '/objects/:objectId',
    access: 'read',
    handle: ({ settings }, _call, { objectId = '' }) => json(200, settingsItem(settings.get(objectId))),
  },
  {
    operation: 'settings-update',
    method: 'PUT',
    path: '/objects/:objectId',
    access: 'write',
    async handle({ settings }, call, { objectId = '' }) {
      const { value } = await call.jsonObject()
      if (!isRecord(value)) throw violation('PAYLOAD_BODY', 'value', 'must be a JSON object')
      return json(200, { code: 200, objectId: settings.update(objectId, value).objectId })
    },
  },
  {
    operation: 'settings-delete',
    method: 'DELETE',
    path: '/objects/:objectId',
    access: 'write',
    handle({ settings }, _call, { objectId = '' }) {
      settings.delete(objectId)
      return empty(204)
    },
  },
  {
    operation: 'settings-effective-values',
    method: 'GET',
    path: '/effectiveValues',
    access: 'read',
    handle({ settings }, { query }) {
      const scope = query.get('scope') ?? ''
      const schemaIds = (query.get('schemaIds') ?? '').split(',').filter((schemaId) => schemaId !== '')
      if (scope === '') throw violation('QUERY', 'scope', 'must not be empty')
      if (schemaIds.length === 0) throw violation('QUERY', 'schemaIds', 'must not be empty')
      const items = schemaIds.flatMap((schemaId) =>
        settings.effective(schemaId, scope).map((effective) => ({ schemaId, ...effective })),
      )
      return json(200, { items, totalCount: items.length, pageSize: Math.max(items.length, 100) })
    },
  },
  {
    operation: 'settings-schemas',
    method: 'GET',
    path: '/schemas',
    access: 'read',
    handle({ settings }) {
      const items = settings.schemas().map(({ schemaId, displayName, versions: [latestSchemaVersion] }) => {
        return { schemaId, displayName, latestSchemaVersion }
      })
      return json(200, { items, totalCount: items.length })
    },
  },
  {
    operation: 'settings-schema',
    method: 'GET',
    path: '/schemas/:schemaId',
    access: 'read',
    handle({ settings }, _call, parameters) {
      const { schemaId, displayName, versions } = settings.schema(parameters.schemaId ?? '')
      return json(200, { schemaId, displayName, version: versions[0], versions })
    },
  },
]

/** Every call twice. */
export function settingsRoutes(tenants: ReadonlyMap<string, TenantState>): readonly Route[] {
  return CALLS.flatMap(({ path, access, errors = 'tenant', ...call }) => [
    tenantRoute({ ...call, path: `/v2/settings${path}`, errors, scopes: [`settings.${access}`] }),
    platformRoute(tenants, {
      ...call,
      path: `/platform/classic/environment-api/v2/settings${path}`,
      errors: 'platform-settings',
      scopes: [`settings:objects:${access}`],
    }),
  ])
}
