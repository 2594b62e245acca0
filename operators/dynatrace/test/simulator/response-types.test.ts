import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  OAUTH_SCOPES,
  SCHEMA_IDS,
  startTenantSimulator,
  type TenantSimulator,
} from '../../src/tenant/simulator/index.ts'
import { REGISTRY_TOKEN_PATH } from '../../src/tenant/simulator/registry/registry-access.ts'
import { callApi, type Reply, type SendOptions, send } from './support/simulator-client.ts'

/** JSON with the name of its type in place of each value; an array has one entry per distinct type of its elements. */
function typesOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    const distinct = new Map(value.map((each) => [JSON.stringify(typesOf(each)), typesOf(each)]))
    return [...distinct.values()]
  }
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  if (typeof value !== 'object') return typeof value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, typesOf(each)]))
}

const AGENT = '/v1/deployment/installer/agent'
const CLUSTER_ID = '5b8a7c1e-0000-4000-8000-000000000001'
const HOST = 'HOST-0000000000000001'
const EDGE_CONNECTS = '/platform/app-engine/edge-connect/v1/edge-connects'
const PLATFORM_SETTINGS = '/platform/classic/environment-api/v2/settings'
const REPOSITORY = 'dynatrace/dynatrace-codemodules'
const INDEX = 'application/vnd.oci.image.index.v1+json'
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'

let simulator: TenantSimulator
let accessToken: string
let objectId: string
let connectionId: string
let edgeConnectId: string

const api = (path: string, options?: SendOptions) => callApi(simulator, path, options)
const platform = (path: string, options: SendOptions = {}) =>
  send(simulator, `https://${simulator.authority}${path}`, {
    ...options,
    headers: { authorization: `Bearer ${accessToken}` },
  })

function exchange(): Promise<Reply> {
  const [client] = simulator.tenant('abc12345').oauth.list()
  const body = new URLSearchParams({
    client_id: client?.id ?? '',
    client_secret: client?.secret ?? '',
    grant_type: 'client_credentials',
    scope: OAUTH_SCOPES.join(' '),
  }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return send(simulator, simulator.tokenUrl, { method: 'POST', body, headers })
}

async function registry(path: string, accept = INDEX): Promise<Reply> {
  const { value = '' } = simulator.tenant('abc12345').tokens.get('apiToken') ?? {}
  const authorization = `Basic ${Buffer.from(`abc12345:${value}`).toString('base64')}`
  const scope = encodeURIComponent(`repository:${REPOSITORY}:pull`)
  const token = await send(simulator, `https://${simulator.authority}${REGISTRY_TOKEN_PATH}?scope=${scope}`, {
    headers: { authorization },
  })
  if (path === 'token') return token
  const bearer = `Bearer ${(token.json() as { token: string }).token}`
  return send(simulator, `https://${simulator.authority}${path}`, { headers: { accept, authorization: bearer } })
}

const clusterSetting = () => ({
  schemaId: SCHEMA_IDS.cluster,
  schemaVersion: '3.0.0',
  value: { label: 'dk', clusterId: CLUSTER_ID, clusterIdEnabled: true, enabled: true },
})
const connection = () => ({
  schemaId: SCHEMA_IDS.connection,
  scope: 'environment',
  value: { name: 'ec', uid: CLUSTER_ID, namespace: 'dynatrace', token: 'dt0e01.A.B' },
})
const edgeConnect = () => ({
  name: 'ec',
  hostPatterns: ['*.internal.org'],
  hostMappings: [{ from: 'ec', to: 'kubernetes.default.svc' }],
  managedByDynatraceOperator: true,
})

beforeAll(async () => {
  simulator = await startTenantSimulator()
  simulator.tenant('abc12345').hosts.add({ entityId: HOST, ipAddresses: ['10.0.0.1'] })
  accessToken = ((await exchange()).json() as { access_token: string }).access_token
})

afterAll(() => simulator.close())

const SETTINGS_ITEM = { objectId: 'string', schemaId: 'string', scope: 'string' }
const CLUSTER_VALUE = { label: 'string', clusterId: 'string', clusterIdEnabled: 'boolean', enabled: 'boolean' }
const CONNECTION_VALUE = { name: 'string', uid: 'string', namespace: 'string', token: 'string' }
const EDGE_CONNECT = {
  id: 'string',
  name: 'string',
  oauthClientId: 'string',
  hostPatterns: ['string'],
  hostMappings: [{ from: 'string', to: 'string' }],
  managedByDynatraceOperator: 'boolean',
  metadata: { instances: [], oauthClientStatus: 'string' },
  modificationInfo: { lastModifiedBy: 'string', lastModifiedTime: 'string' },
}
const WRITTEN = { code: 'integer', objectId: 'string' }
const IMAGE = { source: 'string', tag: 'string' }
const DESCRIPTOR = { mediaType: 'string', digest: 'string', size: 'integer' }

/** The order matters: later calls need what earlier ones created. */
const RESPONSES: readonly (readonly [operation: string, call: () => Promise<Reply>, types: unknown])[] = [
  [
    'token-lookup',
    () => {
      const token = simulator.tenant('abc12345').tokens.get('apiToken')?.value
      return api('/v2/apiTokens/lookup', { method: 'POST', body: { token } })
    },
    {
      id: 'string',
      name: 'string',
      enabled: 'boolean',
      personalAccessToken: 'boolean',
      owner: 'string',
      creationDate: 'string',
      lastUsedDate: 'string',
      scopes: ['string'],
    },
  ],
  [
    'agent-connection-info',
    () => api(`${AGENT}/connectioninfo`),
    {
      tenantUUID: 'string',
      tenantToken: 'string',
      communicationEndpoints: ['string'],
      formattedCommunicationEndpoints: 'string',
    },
  ],
  [
    'gateway-connection-info',
    () => api('/v1/deployment/installer/gateway/connectioninfo'),
    // One text, where the response for agents has a list.
    { tenantUUID: 'string', tenantToken: 'string', communicationEndpoints: 'string' },
  ],
  [
    'process-module-config',
    () => api(`${AGENT}/processmoduleconfig?revision=0&sections=general%2CagentType`),
    { revision: 'integer', properties: [{ section: 'string', key: 'string', value: 'string' }] },
  ],
  ['agent-versions', () => api(`${AGENT}/versions/unix/paas`), { availableVersions: ['string'] }],
  ['agent-latest-version', () => api(`${AGENT}/unix/default/latest/metainfo`), { latestAgentVersion: 'string' }],
  [
    'gateway-latest-version',
    () => api('/v1/deployment/installer/gateway/unix/latest/metainfo'),
    { latestGatewayVersion: 'string' },
  ],
  ['latest-image', () => api('/v1/deployment/image/agent/oneAgent/latest'), IMAGE],
  ['latest-image', () => api('/v1/deployment/image/agent/codeModules/latest'), IMAGE],
  ['latest-image', () => api('/v1/deployment/image/gateway/latest'), IMAGE],
  [
    'active-gate-token',
    () => api('/v2/activeGateTokens', { method: 'POST', body: { name: 'dk', activeGateType: 'ENVIRONMENT' } }),
    { id: 'string', token: 'string', expirationDate: 'string' },
  ],
  [
    'settings-create',
    async () => {
      const reply = await api('/v2/settings/objects?validateOnly=false', { method: 'POST', body: [clusterSetting()] })
      objectId = (reply.json() as { objectId: string }[])[0]?.objectId ?? ''
      return reply
    },
    [WRITTEN],
  ],
  [
    'settings-list',
    () => api('/v2/settings/objects?schemaIds=builtin%3Acloud.kubernetes'),
    { items: [{ ...SETTINGS_ITEM, value: CLUSTER_VALUE }], totalCount: 'integer', pageSize: 'integer' },
  ],
  [
    'settings-get',
    () => api(`/v2/settings/objects/${objectId}`),
    { ...SETTINGS_ITEM, schemaVersion: 'string', modified: 'integer', value: CLUSTER_VALUE },
  ],
  [
    'settings-update',
    () => api(`/v2/settings/objects/${objectId}`, { method: 'PUT', body: clusterSetting() }),
    WRITTEN,
  ],
  [
    'settings-effective-values',
    () => api(`/v2/settings/effectiveValues?schemaIds=${encodeURIComponent(SCHEMA_IDS.enrichment)}&scope=environment`),
    {
      items: [{ schemaId: 'string', origin: 'string', value: { rules: [] } }],
      totalCount: 'integer',
      pageSize: 'integer',
    },
  ],
  [
    'settings-schemas',
    () => api('/v2/settings/schemas'),
    {
      items: [{ schemaId: 'string', displayName: 'string', latestSchemaVersion: 'string' }],
      totalCount: 'integer',
    },
  ],
  [
    'settings-schema',
    () => api(`/v2/settings/schemas/${SCHEMA_IDS.cluster}`),
    { schemaId: 'string', displayName: 'string', version: 'string', versions: ['string'] },
  ],
  ['settings-delete', () => api(`/v2/settings/objects/${objectId}`, { method: 'DELETE' }), undefined],
  [
    'hosts',
    () => api('/v1/entity/infrastructure/hosts?relativeTime=30mins&includeDetails=false'),
    [{ entityId: 'string', displayName: 'string', networkZoneId: 'string', ipAddresses: ['string'] }],
  ],
  [
    'events',
    () => {
      const body = { eventType: 'MARKED_FOR_TERMINATION', source: 'operator', attachRules: { entityIds: [HOST] } }
      return api('/v1/events', { method: 'POST', body })
    },
    { storedEventIds: [], storedIds: ['string'], storedCorrelationIds: [] },
  ],
  ['oauth-token', exchange, { access_token: 'string', token_type: 'string', expires_in: 'integer', scope: 'string' }],
  [
    'edge-connect-create',
    async () => {
      const reply = await platform(EDGE_CONNECTS, { method: 'POST', body: edgeConnect() })
      edgeConnectId = (reply.json() as { id: string }).id
      return reply
    },
    { ...EDGE_CONNECT, oauthClientSecret: 'string', oauthClientResource: 'string' },
  ],
  [
    'edge-connect-list',
    () => platform(`${EDGE_CONNECTS}?add-fields=name%2CmanagedByDynatraceOperator&filter=name%3D%27ec%27`),
    {
      edgeConnects: [{ id: 'string', name: 'string', managedByDynatraceOperator: 'boolean' }],
      totalCount: 'integer',
      pageSize: 'integer',
    },
  ],
  ['edge-connect-get', () => platform(`${EDGE_CONNECTS}/${edgeConnectId}`), EDGE_CONNECT],
  [
    'edge-connect-update',
    () => platform(`${EDGE_CONNECTS}/${edgeConnectId}`, { method: 'PUT', body: edgeConnect() }),
    EDGE_CONNECT,
  ],
  ['edge-connect-delete', () => platform(`${EDGE_CONNECTS}/${edgeConnectId}`, { method: 'DELETE' }), undefined],
  [
    'settings-create',
    async () => {
      const reply = await platform(`${PLATFORM_SETTINGS}/objects`, { method: 'POST', body: [connection()] })
      connectionId = (reply.json() as { objectId: string }[])[0]?.objectId ?? ''
      return reply
    },
    [WRITTEN],
  ],
  [
    'settings-list',
    () => {
      const schemaId = encodeURIComponent(SCHEMA_IDS.connection)
      return platform(`${PLATFORM_SETTINGS}/objects?schemaIds=${schemaId}&scopes=environment`)
    },
    { items: [{ ...SETTINGS_ITEM, value: CONNECTION_VALUE }], totalCount: 'integer', pageSize: 'integer' },
  ],
  [
    'settings-update',
    () => platform(`${PLATFORM_SETTINGS}/objects/${connectionId}`, { method: 'PUT', body: connection() }),
    WRITTEN,
  ],
  ['settings-delete', () => platform(`${PLATFORM_SETTINGS}/objects/${connectionId}`, { method: 'DELETE' }), undefined],
  ['registry-token', () => registry('token'), { token: 'string', access_token: 'string', expires_in: 'integer' }],
  ['registry-ping', () => registry('/v2/'), {}],
  ['registry-tags', () => registry(`/v2/${REPOSITORY}/tags/list`), { name: 'string', tags: ['string'] }],
  [
    'registry-manifest',
    async () => {
      const { tag } = (await api('/v1/deployment/image/agent/codeModules/latest')).json() as { tag: string }
      return registry(`/v2/${REPOSITORY}/manifests/${tag}`)
    },
    {
      schemaVersion: 'integer',
      mediaType: 'string',
      manifests: [{ ...DESCRIPTOR, platform: { architecture: 'string', os: 'string' } }],
    },
  ],
]

test.each(RESPONSES)('%s responds with the types of the real API (call %#)', async (operation, call, types) => {
  simulator.clearCalls()
  const reply = await call()
  expect(simulator.calls().at(-1)).toMatchObject({ operation })
  expect(reply.status).toBeLessThan(300)
  expect(reply.text === '' ? undefined : typesOf(reply.json())).toEqual(types)
})

test('the types of all responses are pinned, except for downloads of bytes', () => {
  const pinned = new Set(RESPONSES.map(([operation]) => operation))
  const rest = simulator.operations.filter((operation) => !pinned.has(operation))
  expect(rest.sort()).toEqual(['agent-download', 'registry-blob'])
})

const VIOLATION = {
  path: 'string',
  message: 'string',
  parameterLocation: 'string',
  location: 'null',
  description: 'null',
}
const ERROR = { code: 'integer', message: 'string' }

test.each<readonly [what: string, status: number, call: () => Promise<Reply>, types: unknown]>([
  [
    'an unknown token',
    401,
    () => callApi(simulator, `${AGENT}/connectioninfo`, { token: 'dt0c01.X.Y' }),
    { error: ERROR },
  ],
  [
    'a parameter outside its range',
    400,
    () => api(`${AGENT}/unix/default/latest/metainfo?flavor=cherry`),
    { error: { ...ERROR, constraintViolations: [VIOLATION] } },
  ],
  [
    'a settings object that is not valid',
    400,
    () => api('/v2/settings/objects', { method: 'POST', body: [{ ...clusterSetting(), value: {} }] }),
    [{ code: 'integer', error: { ...ERROR, constraintViolations: [VIOLATION] } }],
  ],
  [
    'an EdgeConnect without a name',
    400,
    () => platform(EDGE_CONNECTS, { method: 'POST', body: {} }),
    { error: { ...ERROR, details: { constraintViolations: [VIOLATION] } } },
  ],
  [
    'a connection setting that does not exist',
    404,
    () => platform(`${PLATFORM_SETTINGS}/objects/none`, { method: 'DELETE' }),
    { error: ERROR, code: 'integer' },
  ],
  [
    'an OAuth client that does not exist',
    401,
    () => send(simulator, simulator.tokenUrl, { method: 'POST', body: 'grant_type=client_credentials' }),
    { error: 'string', error_description: 'string' },
  ],
  [
    'an unknown image',
    404,
    () => registry(`/v2/${REPOSITORY}/manifests/none`, MANIFEST),
    { errors: [{ code: 'string', message: 'string', detail: 'null' }] },
  ],
])('the error for %s has the types of the real API', async (_what, status, call, types) => {
  const reply = await call()
  expect(reply.status).toBe(status)
  expect(typesOf(reply.json())).toEqual(types)
})
