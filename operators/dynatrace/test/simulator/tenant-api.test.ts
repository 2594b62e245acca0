import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { callApi, send } from './support/simulator-client.ts'

let simulator: TenantSimulator

beforeAll(async () => {
  simulator = await startTenantSimulator({
    tenants: [
      {
        id: 'abc12345',
        tokens: [
          { name: 'apiToken' },
          { name: 'paasToken' },
          { name: 'dataIngestToken' },
          { name: 'admin', scopes: ['apiTokens.read'] },
        ],
        tenantToken: 'tenant-secret',
        endpoints: ['https://one:443/communication', 'https://two:8000/communication'],
        networkZones: [{ name: 'z1', endpoints: ['https://zone:9999/communication'] }],
      },
      { id: 'other' },
    ],
  })
})

afterAll(() => simulator.close())

describe('tokens', () => {
  test.each(['apiToken', 'paasToken', 'dataIngestToken'])('%s can look itself up', async (token) => {
    const { value = '', scopes } = simulator.tenant('abc12345').tokens.get(token) ?? {}
    const reply = await callApi(simulator, '/v2/apiTokens/lookup', { token, method: 'POST', body: { token: value } })
    expect(reply.status).toBe(200)
    expect(reply.json()).toMatchObject({ name: token, scopes })
    expect(reply.text).not.toContain(value)
  })

  test('another token is looked up only with the scope for it', async () => {
    const { value } = simulator.tenant('abc12345').tokens.get('paasToken') ?? {}
    const lookup = { method: 'POST', body: { token: value } }
    expect((await callApi(simulator, '/v2/apiTokens/lookup', lookup)).status).toBe(403)
    expect((await callApi(simulator, '/v2/apiTokens/lookup', { ...lookup, token: 'admin' })).status).toBe(200)
    const missing = { ...lookup, body: { token: 'none' }, token: 'admin' }
    expect((await callApi(simulator, '/v2/apiTokens/lookup', missing)).status).toBe(404)
  })

  test.each([
    ['an unknown token', { authorization: 'Api-Token dt0c01.NOBODY.SECRET' }],
    ['an empty token', { authorization: 'Api-Token ' }],
    ['no token', {}],
    ['another scheme', { authorization: 'Bearer x' }],
  ])('%s returns 401 in status and body', async (_name, headers) => {
    const reply = await send(simulator, `${simulator.url('abc12345')}/v2/apiTokens/lookup`, {
      method: 'POST',
      headers,
      body: { token: '' },
    })
    expect(reply.status).toBe(401)
    expect(reply.json()).toMatchObject({ error: { code: 401 } })
  })

  test('a token of one tenant is worth nothing to the other', async () => {
    const { value = '' } = simulator.tenant('other').tokens.get('apiToken') ?? {}
    const path = '/v1/deployment/installer/agent/connectioninfo'
    expect((await callApi(simulator, path, { token: value })).status).toBe(401)
    expect((await callApi(simulator, path, { token: value, tenant: 'other' })).status).toBe(200)
  })

  test('a token without the scope gets an error that names it', async () => {
    const path = '/v1/deployment/installer/agent/connectioninfo'
    const reply = await callApi(simulator, path, { token: 'dataIngestToken' })
    expect(reply.status).toBe(403)
    expect(reply.json()).toMatchObject({
      error: { code: 403, message: expect.stringContaining('InstallerDownload') },
    })
  })

  test('a token loses and regains scopes, and is unknown once it is revoked', async () => {
    const { tokens } = simulator.tenant('other')
    const connectionInfo = () =>
      callApi(simulator, '/v1/deployment/installer/agent/connectioninfo', { tenant: 'other', token })
    const { value: token } = tokens.add({ name: 'temporary', scopes: [] })
    expect((await connectionInfo()).status).toBe(403)
    tokens.setScopes('temporary', ['InstallerDownload'])
    expect((await connectionInfo()).status).toBe(200)
    tokens.revoke('temporary')
    expect((await connectionInfo()).status).toBe(401)
  })
})

describe('connection info', () => {
  const path = '/v1/deployment/installer/agent/connectioninfo'

  test('agents get a list of endpoints, ActiveGates one text', async () => {
    const agent = await callApi(simulator, path, { token: 'paasToken' })
    expect(agent.json()).toEqual({
      tenantUUID: 'abc12345',
      tenantToken: 'tenant-secret',
      communicationEndpoints: ['https://one:443/communication', 'https://two:8000/communication'],
      formattedCommunicationEndpoints: 'https://one:443/communication;https://two:8000/communication',
    })
    const gateway = await callApi(simulator, '/v1/deployment/installer/gateway/connectioninfo')
    expect(gateway.json()).toMatchObject({
      communicationEndpoints: 'https://one:443/communication,https://two:8000/communication',
    })
  })

  test('a network zone has its own endpoints; an unknown one is rejected unless the default is allowed', async () => {
    const zone = await callApi(simulator, `${path}?networkZone=z1&defaultZoneFallback=true`)
    expect(zone.json()).toMatchObject({ communicationEndpoints: ['https://zone:9999/communication'] })
    const unknown = await callApi(simulator, `${path}?networkZone=none`)
    expect(unknown.status).toBe(400)
    expect(unknown.json()).toMatchObject({
      error: { code: 400, constraintViolations: [{ path: 'networkZone', parameterLocation: 'QUERY' }] },
    })
    const fallback = await callApi(simulator, `${path}?networkZone=none&defaultZoneFallback=true`)
    expect(fallback.json()).toMatchObject({ communicationEndpoints: { length: 2 } })
  })

  test('without endpoints a tenant names the simulator', async () => {
    const reply = await callApi(simulator, path, { tenant: 'other' })
    expect(reply.json()).toMatchObject({ communicationEndpoints: [`https://${simulator.authority}/communication`] })
  })
})

describe('versions and images', () => {
  test('the newest version is returned for every installer that the operator uses', async () => {
    const paths = ['unix/default/latest/metainfo?bitness=64&flavor=default']
    for (const arch of ['x86', 'arm', 'ppcle', 's390']) {
      paths.push(`unix/paas/latest/metainfo?bitness=64&flavor=multidistro&arch=${arch}`)
    }
    for (const each of paths) {
      const reply = await callApi(simulator, `/v1/deployment/installer/agent/${each}`)
      expect(reply.json()).toEqual({ latestAgentVersion: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+-\d+$/) })
    }
    const gateway = await callApi(simulator, '/v1/deployment/installer/gateway/unix/latest/metainfo')
    expect(gateway.json()).toEqual({ latestGatewayVersion: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+-\d+$/) })
  })

  test.each([
    ['a flavor', 'unix/paas/latest/metainfo?flavor=nonsense', 400],
    ['an architecture', 'unix/paas/latest/metainfo?arch=amd64', 400],
    ['an installer type', 'unix/nonsense/latest/metainfo', 400],
    ['a pair of system and architecture', 'unix/paas/latest/metainfo?arch=zos', 404],
    ['another system', 'windows/paas/latest/metainfo', 404],
  ])('%s that does not exist is refused', async (_name, path, status) => {
    const reply = await callApi(simulator, `/v1/deployment/installer/agent/${path}`)
    expect(reply.status).toBe(status)
    expect(reply.json()).toMatchObject({ error: { code: status } })
  })

  test('a release becomes the newest and joins the list', async () => {
    const { versions } = simulator.tenant('other')
    const before = versions.agent
    versions.release('1.400.1.20260101-000000')
    const newest = await callApi(
      simulator,
      '/v1/deployment/installer/agent/unix/paas/latest/metainfo?bitness=64&flavor=multidistro&arch=x86',
      { tenant: 'other' },
    )
    expect(newest.json()).toEqual({ latestAgentVersion: '1.400.1.20260101-000000' })
    const list = await callApi(
      simulator,
      '/v1/deployment/installer/agent/versions/unix/paas?flavor=multidistro&arch=x86',
      { tenant: 'other' },
    )
    const { availableVersions } = list.json() as { availableVersions: string[] }
    expect(availableVersions).toContain(before)
    expect(availableVersions.at(-1)).toBe('1.400.1.20260101-000000')
  })

  test.each([
    ['agent/oneAgent', 'dynatrace-oneagent', 'agent'],
    ['agent/codeModules', 'dynatrace-codemodules', 'agent'],
    ['gateway', 'dynatrace-activegate', 'gateway'],
  ] as const)(
    'the newest image of %s lies in the simulator’s registry, and the body of the GET is ignored',
    async (path, repository, version) => {
      const reply = await callApi(simulator, `/v1/deployment/image/${path}/latest`, { body: { source: '', tag: '' } })
      expect(reply.json()).toEqual({
        source: `${simulator.authority}/dynatrace/${repository}`,
        tag: simulator.tenant('abc12345').versions[version],
      })
    },
  )
})

describe('process-module configuration', () => {
  const path = '/v1/deployment/installer/agent/processmoduleconfig'

  test('only the requested sections are returned, and nothing if the client has the newest revision', async () => {
    const all = await callApi(simulator, `${path}?revision=0&sections=general%2CagentType`)
    const { revision, properties } = all.json() as { revision: number; properties: { section: string }[] }
    expect(new Set(properties.map(({ section }) => section))).toEqual(new Set(['general', 'agentType']))
    const some = await callApi(simulator, `${path}?revision=0&sections=general`)
    expect((some.json() as typeof all & { properties: unknown[] }).properties.length).toBeLessThan(properties.length)
    expect((await callApi(simulator, `${path}?revision=${revision}`)).status).toBe(304)
    simulator.tenant('abc12345').processModuleConfig.set([{ section: 'general', key: 'k', value: 'v' }], 'hg')
    const group = await callApi(simulator, `${path}?hostgroup=hg&revision=${revision}&sections=general`)
    expect(group.json()).toEqual({ revision: revision + 1, properties: [{ section: 'general', key: 'k', value: 'v' }] })
  })
})

describe('ActiveGate tokens', () => {
  const body = { name: 'dk', activeGateType: 'ENVIRONMENT', expirationDate: '2099-01-01T00:00:00Z', seedToken: false }

  test('a token is issued and recorded without its secret', async () => {
    const reply = await callApi(simulator, '/v2/activeGateTokens', { method: 'POST', body })
    expect(reply.status).toBe(201)
    const { id, token } = reply.json() as { id: string; token: string }
    expect(token).toMatch(/^dt0g02\.[A-Z2-7]{24}\.[A-Z2-7]{64}$/)
    expect(token.startsWith(`${id}.`)).toBe(true)
    const issued = simulator.tenant('abc12345').activeGateTokens.list().at(-1)
    expect(issued).toMatchObject({ id, name: 'dk', expiresMs: Date.parse('2099-01-01T00:00:00Z') })
  })

  test.each([
    ['name', { ...body, name: '' }],
    ['activeGateType', { ...body, activeGateType: 'OTHER' }],
    ['expirationDate', { ...body, expirationDate: '2001-01-01T00:00:00Z' }],
    ['expirationDate', { ...body, expirationDate: 'tomorrow' }],
  ])('a wrong %s is named', async (path, wrong) => {
    const reply = await callApi(simulator, '/v2/activeGateTokens', { method: 'POST', body: wrong })
    expect(reply.status).toBe(400)
    expect(reply.json()).toMatchObject({ error: { code: 400, constraintViolations: [{ path }] } })
  })
})

describe('calls', () => {
  test('are recorded with the name of their token and without any secret', async () => {
    const { value = '' } = simulator.tenant('abc12345').tokens.get('apiToken') ?? {}
    await callApi(simulator, '/v2/apiTokens/lookup?Api-Token=hidden', { method: 'POST', body: { token: value } })
    const call = simulator.calls().at(-1)
    expect(call).toMatchObject({
      tenant: 'abc12345',
      token: 'apiToken',
      operation: 'token-lookup',
      method: 'POST',
      status: 200,
      body: { token: '••••••' },
    })
    expect(JSON.stringify(simulator.calls())).not.toContain(value)
    expect(call?.path).not.toContain('hidden')
  })

  test('an unknown path, an unknown tenant and a wrong method get the same errors as in the real API', async () => {
    const unknown = await callApi(simulator, '/v1/nothing')
    expect([unknown.status, unknown.json()]).toMatchObject([404, { error: { code: 404 } }])
    const method = await callApi(simulator, '/v2/apiTokens/lookup')
    expect([method.status, method.headers.allow]).toEqual([405, 'POST'])
    const tenant = await send(simulator, `https://${simulator.authority}/e/nobody/api/v2/apiTokens/lookup`, {
      method: 'POST',
      body: {},
    })
    expect([tenant.status, tenant.json()]).toMatchObject([404, { error: { code: 404 } }])
  })
})
