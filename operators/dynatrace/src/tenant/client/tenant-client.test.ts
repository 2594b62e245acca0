import { HttpConnectionError } from '@reeve/http'
import { type ScriptedResponse, ScriptedSender, SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { isTenantUnavailable } from './errors.ts'
import { codeModules, hostInstaller } from './installer-target.ts'
import { createTenantClient, type TenantClientOptions } from './tenant-client.ts'

const NO_RETRIES = { maxRetries: 0, baseDelayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 1 }

function scripted(responses: readonly ScriptedResponse[], options: Partial<TenantClientOptions> = {}) {
  const sender = new ScriptedSender(...responses)
  const client = createTenantClient({
    apiUrl: 'https://tenant.example.com/e/abc/api',
    apiToken: 'api-token-value',
    sender,
    env: {},
    retries: NO_RETRIES,
    ...options,
  })
  const sent = () =>
    sender.requests.map(({ method, url, headers, body }) => ({
      method,
      path: `${url.pathname}${url.search}`,
      headers,
      ...(body !== undefined && { body: JSON.parse(String(body)) as unknown }),
    }))
  return { client, sent }
}

const json = (value: unknown, status = 200) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})
const refusal = (code: number, message = 'no', status = code) => json({ error: { code, message } }, status)
const INFO = { tenantUUID: 'abc', tenantToken: 'secret', communicationEndpoints: ['https://a.example'] }

describe('addresses and tokens', () => {
  it('joins the address and the path without a double slash', async () => {
    const { client, sent } = scripted([json(INFO)], { apiUrl: 'https://tenant.example.com/e/abc/api/' })
    await client.connectionInfo.oneAgent()
    expect(sent()[0]?.path).toBe('/e/abc/api/v1/deployment/installer/agent/connectioninfo')
  })

  const paasCalls = [
    (client: ReturnType<typeof scripted>['client']) => client.connectionInfo.oneAgent(),
    (client: ReturnType<typeof scripted>['client']) => client.versions.latestAgent(hostInstaller),
    (client: ReturnType<typeof scripted>['client']) => client.processModules.config(),
    (client: ReturnType<typeof scripted>['client']) => client.versions.availableAgents(codeModules('x64')),
  ]
  const apiCalls = [
    (client: ReturnType<typeof scripted>['client']) => client.images.oneAgent(),
    (client: ReturnType<typeof scripted>['client']) => client.settings.findCluster('uid'),
    (client: ReturnType<typeof scripted>['client']) => client.tokens.createForActiveGate('dk'),
    (client: ReturnType<typeof scripted>['client']) => client.hosts.findByIp('1.2.3.4'),
  ]

  it.each([...paasCalls, ...apiCalls])('uses the API token for everything when it is the only one', async (call) => {
    const { client, sent } = scripted([refusal(500)], { paasToken: '' })
    await expect(call(client)).rejects.toThrow()
    expect(sent()[0]?.headers.authorization).toBe('Api-Token api-token-value')
  })

  it('uses the PaaS token where there is one, and the API token for the rest', async () => {
    for (const [calls, token] of [[paasCalls, 'paas-token-value'] as const, [apiCalls, 'api-token-value'] as const]) {
      for (const call of calls) {
        const { client, sent } = scripted([refusal(500)], { paasToken: 'paas-token-value' })
        await expect(call(client)).rejects.toThrow()
        expect(sent()[0]?.headers.authorization).toBe(`Api-Token ${token}`)
      }
    }
  })

  it('looks every token up with itself', async () => {
    const { client, sent } = scripted([json({ scopes: ['DataExport'] })])
    for (const token of ['one-token', 'two-token', '']) await client.tokens.scopes(token)
    expect(sent().map(({ headers, body }) => [headers.authorization, body])).toEqual([
      ['Api-Token one-token', { token: 'one-token' }],
      ['Api-Token two-token', { token: 'two-token' }],
      ['Api-Token ', { token: '' }],
    ])
  })

  it('sends nothing without a token', async () => {
    const { client, sent } = scripted([json({})], { apiToken: '' })
    await expect(client.connectionInfo.activeGate()).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID_CALL' })
    expect(sent()).toEqual([])
  })
})

describe('connection info', () => {
  it('requests a network zone with fallback, for agents only', async () => {
    const { client, sent } = scripted([json(INFO), json({ ...INFO, communicationEndpoints: '' })])
    await client.connectionInfo.oneAgent({ networkZone: 'nz' })
    await client.connectionInfo.activeGate()
    expect(sent()[0]?.path).toMatch(/\?networkZone=nz&defaultZoneFallback=true$/)
    expect(sent()[1]?.path).toMatch(/gateway\/connectioninfo$/)
  })

  it('takes status 400 for "no hosts yet"', async () => {
    const { client } = scripted([{ status: 400, body: '<html>' }])
    expect(await client.connectionInfo.oneAgent()).toMatchObject({ tenantUuid: '', hosts: [] })
  })

  it('expects a string for gateways and a list for agents', async () => {
    const { client } = scripted([json(INFO), json({ ...INFO, communicationEndpoints: 'https://a,https://b' })])
    await expect(client.connectionInfo.activeGate()).rejects.toThrow(
      /ActiveGate connection info: unexpected response: communicationEndpoints must be string/,
    )
    expect((await client.connectionInfo.activeGate()).endpoints).toBe('https://a,https://b')
    await expect(client.connectionInfo.oneAgent()).rejects.toMatchObject({ code: 'ENVIRONMENT_BAD_RESPONSE' })
  })
})

describe('refusals', () => {
  it('keep the code and the words of the server', async () => {
    const violations = [{ path: 'flavor', message: 'must be one of default' }]
    const body = { error: { code: 500, message: 'm', constraintViolations: violations } }
    const { client } = scripted([json(body, 500)])
    await expect(client.versions.latestGateway()).rejects.toMatchObject({
      code: 'ENVIRONMENT_API',
      message: 'latest gateway version: 500 m\n  flavor: must be one of default',
      status: 500,
      server: { code: 500, message: 'm', violations },
    })
  })

  const html = {
    status: 403,
    headers: { 'x-forwarded-for': 'p', 'content-type': 'text/html' },
    body: `<html>${'x'.repeat(5_000)}`,
  }

  it('that cannot be parsed show status, proxy, type and the first 1000 bytes', async () => {
    const { client } = scripted([html])
    const error = await client.versions.latestGateway().catch((reason: Error) => reason)
    expect(error).toMatchObject({ code: 'ENVIRONMENT_UNREADABLE', status: 403 })
    expect(String(error)).toMatch(/HTTP status 403 \(via proxy p\), content type text\/html: <html>x{994}$/)
  })

  it.each([
    ['6', '<html>'],
    ['0', `<html>${'x'.repeat(994)}`],
    ['six', `<html>${'x'.repeat(994)}`],
  ])('quote %s bytes if the variable is set', async (value, quoted) => {
    const { client } = scripted([html], { env: { DT_CLIENT_API_ERROR_LOG_LEN: value } })
    await expect(client.versions.latestGateway()).rejects.toThrow(new RegExp(`html: ${quoted}$`))
  })

  it('mean "retry later" by the code in the body, not by the status', async () => {
    const { client } = scripted([refusal(503), refusal(500, 'no', 503), refusal(429)])
    const errors = []
    for (let call = 0; call < 3; call++) errors.push(await client.versions.latestGateway().catch((error) => error))
    expect(errors.map(isTenantUnavailable)).toEqual([true, false, true])
  })

  it('without an error in them are of unknown code', async () => {
    for (const body of ['{}', 'null', '{"error":{}}']) {
      const { client } = scripted([{ status: 500, body }])
      await expect(client.versions.latestGateway()).rejects.toThrow('latest gateway version: unknown error')
    }
  })

  it('include 204', async () => {
    const { client } = scripted([{ status: 204 }])
    await expect(client.versions.latestGateway()).rejects.toMatchObject({ status: 204 })
  })

  it('never show a token that the server echoes', async () => {
    const { client } = scripted([
      refusal(401, 'unknown token api-token-value'),
      { status: 502, body: 'api-token-value' },
    ])
    for (let call = 0; call < 2; call++) {
      const error = await client.versions.latestGateway().catch((reason: Error) => reason)
      expect(JSON.stringify(error) + String(error)).not.toContain('api-token-value')
    }
  })
})

describe('versions and images', () => {
  it('requests host installers without and code modules with an architecture', async () => {
    const { client, sent } = scripted([json({ latestAgentVersion: '1.2.3.4-5' })])
    expect(await client.versions.latestAgent(hostInstaller)).toBe('1.2.3.4-5')
    await client.versions.latestAgent(codeModules('x64'))
    expect(sent().map(({ path }) => path.split('/agent/')[1])).toEqual([
      'unix/default/latest/metainfo?bitness=64&flavor=default',
      'unix/paas/latest/metainfo?bitness=64&flavor=multidistro&arch=x86',
    ])
  })

  it.each(['os', 'type'])('sends nothing with an empty %s', async (field) => {
    const { client, sent } = scripted([json({})])
    const target = { ...hostInstaller, [field]: '' }
    await expect(client.versions.latestAgent(target)).rejects.toMatchObject({ code: 'ENVIRONMENT_INVALID_CALL' })
    expect(sent()).toEqual([])
  })

  it('requests images by a GET with a body of two empty texts', async () => {
    const { client, sent } = scripted([json({ source: 'registry.example/agent', tag: '1' })])
    expect(await client.images.codeModules()).toEqual({ source: 'registry.example/agent', tag: '1' })
    expect(sent()[0]).toMatchObject({
      method: 'GET',
      path: '/e/abc/api/v1/deployment/image/agent/codeModules/latest',
      headers: { accept: 'application/json' },
      body: { source: '', tag: '' },
    })
    expect(sent()[0]?.headers['content-type']).toBeUndefined()
  })

  it('reports invalid JSON', async () => {
    const broken = { status: 200, headers: { 'content-type': 'application/json' }, body: '{"source":' }
    const { client } = scripted([broken])
    for (const call of [
      () => client.images.oneAgent(),
      () => client.tokens.createForActiveGate('dk'),
      () => client.connectionInfo.oneAgent(),
    ]) {
      await expect(call()).rejects.toThrow(/unexpected response: the response is not JSON \(200, application\/json\)/)
    }
  })
})

describe('process module config', () => {
  it.each([304, 404])('is empty on %s', async (status) => {
    const { client } = scripted([{ status }])
    expect(await client.processModules.config()).toEqual({ revision: '0', properties: [] })
  })

  it.each([{}, { properties: [] }])('without properties is an error', async (body) => {
    const { client } = scripted([json(body)])
    await expect(client.processModules.config()).rejects.toThrow(/properties is empty/)
  })

  it('requests a host group and revision 0', async () => {
    const { client, sent } = scripted([json({ revision: 17, properties: [{ section: 's', key: 'k', value: 'v' }] })])
    const config = await client.processModules.config({ hostGroup: 'hg' })
    expect(config).toEqual({ revision: '17', properties: [{ section: 's', key: 'k', value: 'v' }] })
    expect(sent()[0]?.path).toMatch(/\?hostgroup=hg&revision=0&sections=general%2CagentType$/)
    expect(sent()[0]?.headers['content-type']).toBe('application/json')
  })

  it('keeps a revision that a number would not', async () => {
    const properties = [{ section: 's', key: 'k', value: 'v' }]
    const body = `{"revision":18446744073709551615,"properties":${JSON.stringify(properties)}}`
    const { client } = scripted([{ ...json({}), body }])
    expect(await client.processModules.config()).toEqual({ revision: '18446744073709551615', properties })
  })

  it.each(['-1', '1.5', '"x"'])('refuses the revision %s', async (revision) => {
    const { client } = scripted([{ ...json({}), body: `{"revision":${revision}}` }])
    await expect(client.processModules.config()).rejects.toThrow(/revision must match pattern/)
  })

  it('is empty without a connection, but an error when the response is incomplete', async () => {
    const { client } = scripted([
      new HttpConnectionError('refused', 'connect'),
      new HttpConnectionError('cut', 'response'),
    ])
    expect((await client.processModules.config()).properties).toEqual([])
    await expect(client.processModules.config()).rejects.toMatchObject({ code: 'HTTP_CONNECTION' })
  })
})

describe('ActiveGate tokens', () => {
  it('are requested with name, type and 60 days', async () => {
    const clock = new SimulatedClock({ startMs: Date.UTC(2030, 0, 1) })
    const { client, sent } = scripted([json({ id: 'x', token: 'dt0g02.PUB.PRIV' }, 201)], { clock })
    expect(await client.tokens.createForActiveGate('dk')).toEqual({ id: 'dt0g02.PUB', token: 'dt0g02.PUB.PRIV' })
    expect(sent()[0]?.body).toEqual({
      name: 'dk',
      activeGateType: 'ENVIRONMENT',
      expirationDate: '2030-03-02T00:00:00Z',
      seedToken: false,
    })
  })

  it('without a public part are refused, because what is shown of them would be the secret', async () => {
    const { client } = scripted([json({ token: 'nodots' })])
    await expect(client.tokens.createForActiveGate('dk')).rejects.toMatchObject({ code: 'ENVIRONMENT_BAD_RESPONSE' })
  })
})

describe('hosts and events', () => {
  const hosts = json([
    { entityId: 'HOST-1', networkZoneId: 'default', ipAddresses: ['1.1.1.1'] },
    { entityId: 'HOST-2', ipAddresses: ['2.2.2.2'] },
    { entityId: 'HOST-3', networkZoneId: 'z1', ipAddresses: ['1.1.1.1', '3.3.3.3'] },
    { entityId: 'HOST-4', networkZoneId: '', ipAddresses: ['2.2.2.2'] },
  ])

  it('count only in their network zone, the last one of an address', async () => {
    const { client } = scripted([hosts])
    const found = (entityId: string) => ({ outcome: 'found', entityId })
    expect(await client.hosts.findByIp('1.1.1.1')).toEqual(found('HOST-1'))
    expect(await client.hosts.findByIp('2.2.2.2')).toEqual(found('HOST-4'))
    expect(await client.hosts.findByIp('3.3.3.3')).toEqual({ outcome: 'not-found' })
    expect(await client.hosts.findByIp('1.1.1.1', { networkZone: 'z1' })).toEqual(found('HOST-3'))
    expect(await client.hosts.findByIp('2.2.2.2', { networkZone: 'z1' })).toEqual({ outcome: 'not-found' })
  })

  const event = {
    eventType: 'MARKED_FOR_TERMINATION',
    description: 'd',
    source: 's',
    entityIds: ['HOST-1'],
    startMs: 1,
    endMs: 2,
  }

  it('may not be available, by status or by code', async () => {
    for (const response of [refusal(404), refusal(404, 'no', 400), { status: 404, body: '<html>' }]) {
      const { client } = scripted([response])
      expect(await client.hosts.findByIp('1.1.1.1')).toEqual({ outcome: 'not-available' })
      expect(await client.hosts.sendEvent(event)).toBe(false)
    }
    const { client } = scripted([refusal(400)])
    await expect(client.hosts.findByIp('1.1.1.1')).rejects.toMatchObject({ code: 'ENVIRONMENT_API' })
    await expect(client.hosts.sendEvent(event)).rejects.toMatchObject({ code: 'ENVIRONMENT_API' })
  })

  it('are not sent without type or data', async () => {
    const { client, sent } = scripted([json({})])
    const invalid = { code: 'ENVIRONMENT_INVALID_CALL' }
    await expect(client.hosts.sendEvent({ ...event, eventType: '' })).rejects.toMatchObject(invalid)
    await expect(client.hosts.sendEvent(undefined)).rejects.toMatchObject(invalid)
    await expect(client.hosts.findByIp('')).rejects.toMatchObject(invalid)
    expect(sent()).toEqual([])
  })
})

describe('retries', () => {
  it('repeat what only reads, and what changes something only when it was not processed', async () => {
    const retries = { maxRetries: 2, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 }
    const reads = scripted([refusal(503), json({ latestGatewayVersion: '1' })], { retries })
    expect(await reads.client.versions.latestGateway()).toBe('1')
    const writes = scripted([refusal(503), json({ token: 'a.b.c' })], { retries })
    await expect(writes.client.tokens.createForActiveGate('dk')).rejects.toMatchObject({ status: 503 })
    expect(writes.sent()).toHaveLength(1)
    const throttled = scripted([refusal(429), json({ token: 'a.b.c' })], { retries })
    await throttled.client.tokens.createForActiveGate('dk')
    expect(throttled.sent()).toHaveLength(2)
  })
})
