/** Fuzzes what a Dynatrace tenant, or a proxy in its place, answers to every call. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attemptAsync, fuzz, jsonOf, jsonValue, textOf } from '@reeve/fuzz'
import { HttpError } from '@reeve/http'
import { readScript, ScriptedSender } from '@reeve/http/testing'
import fc from 'fast-check'
import { TenantError } from '../src/tenant/client/errors.ts'
import { createPlatformClient, type PlatformClient } from '../src/tenant/client/platform/platform-client.ts'
import { createTenantClient } from '../src/tenant/client/tenant-client.ts'
import { EVERY_CALL } from '../test/tenant/support/every-call.ts'

const connection = { name: 'a', namespace: 'b', uid: 'c', token: 'd' }
const platformCalls: Readonly<Record<string, (client: PlatformClient) => Promise<unknown>>> = {
  'edge-connect-find': (client) => client.edgeConnects.findByName('office'),
  'edge-connect-get': (client) => client.edgeConnects.get('1'),
  'edge-connect-create': (client) => client.edgeConnects.create({ name: 'a', hostPatterns: [], hostMappings: [] }),
  'edge-connect-delete': (client) => client.edgeConnects.delete('1'),
  'connection-find': (client) => client.connectionSettings.find(connection),
  'connection-create': (client) => client.connectionSettings.create(connection),
}
const operations = [...EVERY_CALL.map(({ operation }) => operation), ...Object.keys(platformCalls)]

const text = fc.string({ maxLength: 6 })
const refusal = fc.record({
  error: fc.record({
    code: fc.constantFrom(400, 404, 429),
    message: text,
    constraintViolations: fc.array(fc.record({ path: text, message: text }), { maxLength: 2 }),
  }),
})
const known = fc.constantFrom<unknown>(
  {
    scopes: ['a'],
    tenantUUID: 'abc',
    tenantToken: 't',
    communicationEndpoints: ['https://a:443/communication'],
    formattedCommunicationEndpoints: 'https://a;b',
  },
  { tenantUUID: 'abc', communicationEndpoints: 'https://a,https://b;{x}' },
  { latestAgentVersion: '1.2.3.4', latestGatewayVersion: '1.2', availableVersions: ['1', '2'] },
  { source: 'registry.example.com/a', tag: '1', image: 'x' },
  { revision: 7, properties: [{ section: 'general', key: 'a', value: 'b' }] },
  { token: 'dt0g02.a.b', tokenId: 'x', expirationDate: '2030-01-01T00:00:00Z' },
  {
    items: [
      {
        objectId: 'o',
        entityId: 'KUBERNETES_CLUSTER-1',
        displayName: 'n',
        value: { rules: [{ enabled: true, type: 'LABEL', source: 'a', target: 'b' }] },
      },
    ],
    totalCount: 1,
    nextPageKey: null,
  },
  [{ code: 200, objectId: 'o' }],
  [{ entityId: 'HOST-1', ipAddresses: ['10.0.0.5'], networkZoneId: 'default' }],
  { access_token: 't', expires_in: 300, edgeConnects: [{ id: '1', name: 'office' }] },
)
const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 201, 204, 206, 302, 304, 400, 401, 403, 404, 416, 429, 500, 503),
  headers: fc.constantFrom<Record<string, string>>(
    {},
    { etag: '"a"' },
    { 'content-range': 'bytes 0-1/5' },
    { 'content-length': '-1' },
    { location: '/x' },
    { 'retry-after': '9' },
    { 'content-type': 'text/html' },
  ),
  body: fc.oneof(known, refusal, jsonValue),
})

const folder = await mkdtemp(join(tmpdir(), 'reeve-fuzz-'))

fuzz('tenant-answer', {
  inputs: jsonOf({ call: fc.constantFrom(...operations), answers: fc.array(answer, { minLength: 1, maxLength: 4 }) }),
  dictionary: [
    'items',
    'value',
    'rules',
    'totalCount',
    'error',
    'code',
    'message',
    'constraintViolations',
    'communicationEndpoints',
    'properties',
    'revision',
    'content-range',
    'bytes 5-9/10',
    'etag',
    'W/"x"',
    'access_token',
    ...operations,
  ],
  isJson: true,
  async run(input) {
    const script = readScript(textOf(input))
    if (script === undefined) return
    const { call: operation, answers } = script
    const retries = { maxRetries: 1, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 }
    const options = { sender: new ScriptedSender(...answers), retries, env: {} }
    await attemptAsync(() => perform(operation, options), TenantError, HttpError)
  },
})

type ClientOptions = Pick<Parameters<typeof createTenantClient>[0], 'sender' | 'retries' | 'env'>

async function perform(operation: string, options: ClientOptions): Promise<unknown> {
  const call = EVERY_CALL.find((one) => one.operation === operation)
  if (call !== undefined) {
    const apiToken = 'dt0c01.A.B'
    await using client = createTenantClient({ ...options, apiUrl: 'https://abc.example.com/api', apiToken })
    return await call.run({ client, apiToken, folder })
  }
  if (!Object.hasOwn(platformCalls, operation)) return undefined
  const oauth = { endpoint: 'https://sso.example.com/token', clientId: 'a', clientSecret: 'b', resource: 'c' }
  await using platform = createPlatformClient({ ...options, apiServer: 'abc.apps.example.com', oauth })
  return await platformCalls[operation]?.(platform)
}
