/** EdgeConnect calls against the simulated platform. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ScriptedResponse, ScriptedSender, SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { createPlatformClient } from '../../src/tenant/client/platform/platform-client.ts'
import { simulated, TENANT } from './support/simulated.ts'

const REQUEST = {
  name: 'office',
  hostPatterns: ['*.internal.org'],
  hostMappings: [{ from: 'office.ns.uid.kubernetes-automation', to: 'kubernetes.default.svc.cluster.local' }],
}
const CONNECTION = { name: 'office', namespace: 'ns', uid: 'uid', token: 'dt0e01.AAAA.BBBB' }

describe('an EdgeConnect', () => {
  it('is created, found, changed and deleted', async () => {
    await using tenant = await simulated()
    const { edgeConnects } = tenant.platform()
    expect(await edgeConnects.findByName('office')).toBeUndefined()
    const created = await edgeConnects.create(REQUEST)
    expect(created.oauthClientSecret).not.toBe('')
    expect(await edgeConnects.findByName('office')).toMatchObject({ id: created.id, managedByOperator: true })
    const { oauthClientId } = created
    await edgeConnects.update(created.id, { ...REQUEST, hostPatterns: ['*.other.org'], oauthClientId })
    expect((await edgeConnects.get(created.id)).hostPatterns).toEqual(['*.other.org'])
    await edgeConnects.delete(created.id)
    await expect(edgeConnects.get(created.id)).rejects.toMatchObject({ code: 'ENVIRONMENT_API', status: 404 })
    expect(tenant.received().filter((operation) => operation === 'oauth-token')).toHaveLength(1)
  })

  it('has settings by which the cluster is reached', async () => {
    await using tenant = await simulated()
    const { connectionSettings } = tenant.platform()
    expect(await connectionSettings.find(CONNECTION)).toBeUndefined()
    await connectionSettings.create(CONNECTION)
    const found = await connectionSettings.find(CONNECTION)
    if (found === undefined) throw new Error('not found')
    expect(await connectionSettings.find({ ...CONNECTION, uid: 'other' })).toBeUndefined()
    await connectionSettings.update({ ...found, value: { ...CONNECTION, token: 'dt0e01.AAAA.CCCC' } })
    await connectionSettings.delete(found.objectId)
    expect(await connectionSettings.find(CONNECTION)).toBeUndefined()
  })

  it('is refused with the scopes that are missing', async () => {
    await using tenant = await simulated({
      tenants: [{ id: TENANT, oauthClients: [{ id: 'dt0s02.LIMITED', scopes: ['app-engine:edge-connects:read'] }] }],
    })
    const { edgeConnects } = tenant.platform({ hasKubernetesAutomation: false })
    await expect(edgeConnects.create(REQUEST)).rejects.toMatchObject({ code: expect.stringMatching(/^ENVIRONMENT_/) })
  })

  it.each(['unauthorized', 'missing-scope'] as const)('reports %s', async (kind) => {
    await using tenant = await simulated()
    tenant.simulator.faults.add({ kind, operation: 'edge-connect-list' })
    await expect(tenant.platform().edgeConnects.findByName('office')).rejects.toMatchObject({
      code: 'ENVIRONMENT_API',
      status: kind === 'unauthorized' ? 401 : 403,
    })
  })
})

describe('access tokens', () => {
  it('come before every first call, with the scopes that are needed', async () => {
    for (const [hasKubernetesAutomation, count] of [
      [false, 4],
      [true, 6],
    ] as const) {
      const { client, sender } = scripted([token(), list()], { hasKubernetesAutomation })
      await client.edgeConnects.findByName('office')
      const [first, second] = sender.requests
      const form = new URLSearchParams(String(first?.body))
      expect([...form.keys()]).toEqual(['grant_type', 'scope'])
      expect(form.get('scope')?.split(' ')).toHaveLength(count)
      expect(first?.headers.authorization).toBe(`Basic ${Buffer.from('id%2F1:s%C3%A9cret-value').toString('base64')}`)
      expect(second?.headers.authorization).toBe('Bearer access-1')
      expect(second?.headers.accept).toBeUndefined()
    }
  })

  it('are requested with credentials in the body when a header is rejected', async () => {
    const { client, sender } = scripted([{ status: 401, body: '{"error":"invalid_client"}' }, token(), list()])
    await client.edgeConnects.findByName('office')
    const form = new URLSearchParams(String(sender.requests[1]?.body))
    expect([...form.keys()]).toEqual(['client_id', 'client_secret', 'grant_type', 'scope'])
    expect(sender.requests[1]?.headers.authorization).toBeUndefined()
  })

  it('live as long as a number or a text says', async () => {
    for (const expiresIn of [300, '300']) {
      const clock = new SimulatedClock()
      const { client, sender } = scripted([token(expiresIn), list(), list(), token(expiresIn), list()], { clock })
      await client.edgeConnects.findByName('office')
      await clock.advance(280_000)
      await client.edgeConnects.findByName('office')
      await clock.advance(11_000)
      await client.edgeConnects.findByName('office')
      expect(sender.requests.filter(({ url }) => url.hostname === 'sso.example')).toHaveLength(2)
    }
  })

  it.each([
    [{ token_type: 'Bearer' }, /access_token is missing/],
    [
      { access_token: 'x', error: 'invalid_scope', error_description: 'no sécret-value' },
      /invalid_scope no \[redacted\]/,
    ],
  ])('that are invalid are an error, also with status 200', async (body, problem) => {
    const { client } = scripted([{ status: 200, body: JSON.stringify(body) }])
    await expect(client.edgeConnects.findByName('office')).rejects.toThrow(problem)
  })

  it('that were revoked are replaced for the next call', async () => {
    const { client, sender } = scripted([token(), { status: 401, body: '{}' }, token(300, 'access-2'), list()])
    await expect(client.edgeConnects.findByName('office')).rejects.toMatchObject({ status: 401 })
    await client.edgeConnects.findByName('office')
    expect(sender.requests.at(-1)?.headers.authorization).toBe('Bearer access-2')
  })
})

describe('bodies and statuses', () => {
  const created = { id: 'i', oauthClientId: 'c', oauthClientSecret: 's', oauthClientResource: 'r' }

  it('of a new EdgeConnect', async () => {
    const { client, sender } = scripted([token(), { status: 201, body: JSON.stringify(created) }])
    await client.edgeConnects.create({ name: 'office', hostMappings: REQUEST.hostMappings, oauthClientId: 'ignored' })
    expect(JSON.parse(String(sender.requests[1]?.body))).toEqual({
      name: 'office',
      hostPatterns: null,
      hostMappings: REQUEST.hostMappings,
      managedByDynatraceOperator: true,
    })
  })

  it('without credentials are an error', async () => {
    const { client } = scripted([token(), { status: 200, body: JSON.stringify({ ...created, oauthClientSecret: '' }) }])
    await expect(client.edgeConnects.create(REQUEST)).rejects.toThrow(/oauthClientSecret/)
  })

  it('mean success only as 200 for updates and 204 for deletions', async () => {
    const outcome = async (status: number, call: 'update' | 'delete') => {
      const { client } = scripted([token(), { status }])
      const done = call === 'update' ? client.edgeConnects.update('i', REQUEST) : client.edgeConnects.delete('i')
      return done.then(
        () => 'success',
        () => 'error',
      )
    }
    expect(await outcome(200, 'update')).toBe('success')
    expect(await outcome(204, 'update')).toBe('error')
    expect(await outcome(204, 'delete')).toBe('success')
    expect(await outcome(200, 'delete')).toBe('error')
  })

  it('of a connection setting', async () => {
    const { client, sender } = scripted([token(), { status: 204 }])
    await client.connectionSettings.create(CONNECTION)
    expect(JSON.parse(String(sender.requests[1]?.body))).toEqual([
      {
        objectId: null,
        schemaId: 'app:dynatrace.kubernetes.connector:connection',
        scope: 'environment',
        value: CONNECTION,
      },
    ])
  })

  it('with two EdgeConnects of one name are an error', async () => {
    const { client } = scripted([token(), list([{ id: '1' }, { id: '2' }])])
    await expect(client.edgeConnects.findByName('office')).rejects.toThrow(/2 EdgeConnects are named office/)
  })

  it('show the scopes that a platform misses', async () => {
    const details = { missingScopes: ['app-engine:edge-connects:read'] }
    const body = JSON.stringify({ error: { code: 403, message: 'Forbidden', details } })
    const { client } = scripted([token(), { status: 403, body }])
    await expect(client.edgeConnects.findByName('office')).rejects.toThrow(
      /403 Forbidden \(missing scopes: app-engine:edge-connects:read\)/,
    )
  })
})

it('the client of the platform contacts the API directly even when the process has a proxy', async () => {
  await using tenant = await simulated()
  const asked: string[] = []
  const proxy = createServer()
  proxy.on('connect', (request: IncomingMessage, socket) => {
    asked.push(request.url ?? '')
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo // it listens on TCP
  const oauth = { endpoint: 'https://sso.tenant.example/token', clientId: 'id', clientSecret: 'secret-value' }
  const platform = tenant.platform({ oauth, env: { HTTPS_PROXY: `http://127.0.0.1:${port}` } })
  await expect(platform.edgeConnects.findByName('office')).rejects.toMatchObject({ code: 'HTTP_CONNECTION' })
  expect(new Set(asked)).toEqual(new Set(['sso.tenant.example:443']))
  await new Promise((resolve) => proxy.close(resolve))
})

function scripted(answers: readonly ScriptedResponse[], more: object = {}) {
  const sender = new ScriptedSender(...answers)
  const client = createPlatformClient({
    apiServer: 'tenant.example',
    oauth: { endpoint: 'https://sso.example/token', clientId: 'id/1', clientSecret: 'sécret-value' },
    sender,
    env: {},
    retries: { maxRetries: 0, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 },
    ...more,
  })
  return { client, sender }
}

function token(expiresIn: number | string = 300, value = 'access-1'): ScriptedResponse {
  const body = { access_token: value, token_type: 'bearer', expires_in: expiresIn }
  return { status: 200, body: JSON.stringify(body) }
}

function list(edgeConnects: readonly object[] = []): ScriptedResponse {
  return { status: 200, body: JSON.stringify({ edgeConnects, totalCount: edgeConnects.length }) }
}
