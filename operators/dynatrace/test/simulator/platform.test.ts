import { SimulatedClock } from '@reeve/http/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  OAUTH_SCOPES,
  SCHEMA_IDS,
  startTenantSimulator,
  type TenantSimulator,
} from '../../src/tenant/simulator/index.ts'
import { type Reply, type SendOptions, send } from './support/simulator-client.ts'

let simulator: TenantSimulator
let clock: SimulatedClock

beforeEach(async () => {
  clock = new SimulatedClock()
  simulator = await startTenantSimulator({ clock, tenants: [{ id: 'one' }, { id: 'two' }] })
})

afterEach(() => simulator.close())

const client = (tenant = 'one') => {
  const [first] = simulator.tenant(tenant).oauth.list()
  if (first === undefined) throw new Error('the tenant has no OAuth client')
  return first
}

function exchange(options: {
  readonly id?: string
  readonly secret?: string
  readonly scopes?: readonly string[]
  readonly inBody?: boolean
  readonly grantType?: string
}): Promise<Reply> {
  const { id = client().id, secret = client().secret, scopes = OAUTH_SCOPES, inBody = false } = options
  const form = new URLSearchParams({
    ...(inBody && { client_id: id, client_secret: secret }),
    grant_type: options.grantType ?? 'client_credentials',
    scope: scopes.join(' '),
  })
  const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')
  return send(simulator, simulator.tokenUrl, {
    method: 'POST',
    body: form.toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(!inBody && { authorization: `Basic ${basic}` }),
    },
  })
}

async function accessToken(options: Parameters<typeof exchange>[0] = {}): Promise<string> {
  return ((await exchange(options)).json() as { access_token: string }).access_token
}

const EDGE_CONNECTS = '/platform/app-engine/edge-connect/v1/edge-connects'
const SETTINGS = '/platform/classic/environment-api/v2/settings/objects'

function call(path: string, token: string, options: SendOptions = {}): Promise<Reply> {
  return send(simulator, `https://${simulator.authority}${path}`, {
    ...options,
    headers: { authorization: `Bearer ${token}` },
  })
}

describe('access tokens', () => {
  test.each([false, true])('are issued for a client and its secret (in the body: %s)', async (inBody) => {
    const reply = await exchange({ inBody })
    expect(reply.status).toBe(200)
    expect(reply.json()).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 300,
      scope: OAUTH_SCOPES.join(' '),
    })
  })

  test.each([
    ['an unknown client', { id: 'dt0s02.NOBODY' }, 401, 'invalid_client'],
    ['a wrong secret', { secret: 'wrong' }, 401, 'invalid_client'],
    ['a scope the client does not have', { scopes: ['everything'] }, 400, 'invalid_scope'],
    ['another grant', { grantType: 'password' }, 400, 'unsupported_grant_type'],
  ])('are refused for %s', async (_name, options, status, error) => {
    const reply = await exchange(options)
    expect([reply.status, reply.json()]).toMatchObject([status, { error }])
  })

  test('expire', async () => {
    const token = await accessToken()
    expect((await call(EDGE_CONNECTS, token)).status).toBe(200)
    await clock.advance(300_000)
    const reply = await call(EDGE_CONNECTS, token)
    expect([reply.status, reply.json()]).toMatchObject([401, { error: { code: 401 } }])
  })

  test('without a scope get an error that names it', async () => {
    const token = await accessToken({ scopes: ['app-engine:edge-connects:read'] })
    const reply = await call(EDGE_CONNECTS, token, { method: 'POST', body: { name: 'ec' } })
    expect(reply.status).toBe(403)
    expect(reply.json()).toMatchObject({
      error: { code: 403, details: { missingScopes: ['app-engine:edge-connects:write', 'oauth2:clients:manage'] } },
    })
  })

  test('leave no secret in the calls', async () => {
    const token = await accessToken({ inBody: true })
    await call(EDGE_CONNECTS, token)
    const calls = JSON.stringify(simulator.calls())
    expect(calls).toContain(client().id)
    expect(calls).not.toContain(client().secret)
    expect(calls).not.toContain(token)
  })
})

describe('EdgeConnects', () => {
  const body = {
    name: 'ec',
    hostPatterns: ['*.internal.org'],
    hostMappings: [{ from: 'ec.ns.uid.kubernetes-automation', to: 'kubernetes.default.svc.cluster.local' }],
    managedByDynatraceOperator: true,
  }
  const list = `${EDGE_CONNECTS}?add-fields=name%2CmanagedByDynatraceOperator&filter=name%3D%27ec%27`

  test('exist from creation to deletion', async () => {
    const token = await accessToken()
    expect((await call(list, token)).json()).toMatchObject({ edgeConnects: [], totalCount: 0 })
    const created = await call(EDGE_CONNECTS, token, { method: 'POST', body })
    const { id, oauthClientId, oauthClientSecret, oauthClientResource } = created.json() as Record<string, string>
    expect(created.status).toBe(201)
    expect(oauthClientResource).toBe('urn:dtenvironment:one')
    expect((await call(list, token)).json()).toMatchObject({
      edgeConnects: [{ id, name: 'ec', managedByDynatraceOperator: true }],
      totalCount: 1,
    })
    const found = await call(`${EDGE_CONNECTS}/${id}`, token)
    expect(found.json()).toMatchObject({ ...body, id, oauthClientId })
    expect(found.text).not.toContain(oauthClientSecret)
    const update = { ...body, oauthClientId, hostPatterns: null }
    expect((await call(`${EDGE_CONNECTS}/${id}`, token, { method: 'PUT', body: update })).status).toBe(200)
    expect((await call(`${EDGE_CONNECTS}/${id}`, token)).json()).toMatchObject({ hostPatterns: null })
    expect((await call(`${EDGE_CONNECTS}/${id}`, token, { method: 'DELETE' })).status).toBe(204)
    const gone = await call(`${EDGE_CONNECTS}/${id}`, token)
    expect([gone.status, gone.json()]).toMatchObject([404, { error: { code: 404 } }])
    expect(simulator.tenant('one').oauth.get(oauthClientId ?? '')).toBeUndefined()
  })

  test('hide the managed flag in lists unless it is requested', async () => {
    const token = await accessToken()
    await call(EDGE_CONNECTS, token, { method: 'POST', body })
    const { edgeConnects } = (await call(EDGE_CONNECTS, token)).json() as { edgeConnects: object[] }
    expect(edgeConnects[0]).not.toHaveProperty('managedByDynatraceOperator')
  })

  test('belong to the tenant of the client, which shares its address with others', async () => {
    await call(EDGE_CONNECTS, await accessToken(), { method: 'POST', body })
    const { id, secret } = client('two')
    const token = await accessToken({ id, secret })
    expect((await call(EDGE_CONNECTS, token)).json()).toMatchObject({ totalCount: 0 })
    expect(simulator.calls().at(-1)).toMatchObject({ tenant: 'two', token: id, operation: 'edge-connect-list' })
  })

  test.each([
    ['without a name', { ...body, name: undefined }, 400],
    ['with invalid patterns', { ...body, hostPatterns: 'x' }, 400],
    ['with invalid mappings', { ...body, hostMappings: [{}] }, 400],
    ['of a name that is taken', body, 409],
  ])('%s are refused', async (_name, wrong, status) => {
    const token = await accessToken()
    await call(EDGE_CONNECTS, token, { method: 'POST', body })
    const reply = await call(EDGE_CONNECTS, token, { method: 'POST', body: wrong })
    expect([reply.status, reply.json()]).toMatchObject([status, { error: { code: status } }])
    expect(simulator.tenant('one').edgeConnects.list()).toHaveLength(1)
  })
})

describe('connection settings', () => {
  const connection = (token: string) => ({
    objectId: null,
    schemaId: SCHEMA_IDS.connection,
    scope: 'environment',
    value: { name: 'ec', uid: 'uid', namespace: 'ns', token },
  })
  const list = `${SETTINGS}?schemaIds=${encodeURIComponent(SCHEMA_IDS.connection)}&scopes=environment`

  test('are created, found, changed and deleted', async () => {
    const token = await accessToken()
    expect((await call(list, token)).json()).toMatchObject({ items: [], totalCount: 0 })
    const created = await call(SETTINGS, token, { method: 'POST', body: [connection('dt0e01.first')] })
    expect(created.status).toBe(200)
    const { items } = (await call(list, token)).json() as { items: { objectId: string; value: object }[] }
    expect(items).toMatchObject([{ value: { name: 'ec', token: 'dt0e01.first' } }])
    const path = `${SETTINGS}/${items[0]?.objectId}`
    const changed = await call(path, token, { method: 'PUT', body: connection('dt0e01.second') })
    expect(changed.status).toBe(200)
    expect((await call(list, token)).json()).toMatchObject({ items: [{ value: { token: 'dt0e01.second' } }] })
    expect((await call(path, token, { method: 'DELETE' })).status).toBe(204)
    const gone = await call(path, token, { method: 'DELETE' })
    expect([gone.status, gone.json()]).toMatchObject([404, { error: { code: 404 }, code: 404 }])
    expect(JSON.stringify(simulator.calls())).not.toContain('dt0e01')
  })

  test('need their own scopes', async () => {
    const token = await accessToken({ scopes: ['app-engine:edge-connects:read'] })
    expect((await call(list, token)).status).toBe(403)
  })
})
