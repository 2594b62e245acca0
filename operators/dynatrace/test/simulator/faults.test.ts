import { SimulatedClock } from '@reeve/http/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Fault, SCHEMA_IDS, startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { callApi, send } from './support/simulator-client.ts'

let simulator: TenantSimulator
let clock: SimulatedClock

beforeEach(async () => {
  clock = new SimulatedClock()
  simulator = await startTenantSimulator({ clock, tenants: [{ id: 'abc12345' }, { id: 'other' }] })
})

afterEach(() => simulator.close())

const INFO = '/v1/deployment/installer/agent/connectioninfo'
const GATEWAY_INFO = '/v1/deployment/installer/gateway/connectioninfo'
const info = (tenant = 'abc12345') => callApi(simulator, INFO, { tenant })

describe('refusals', () => {
  test.each<[Fault, number]>([
    [{ kind: 'unauthorized' }, 401],
    [{ kind: 'missing-scope' }, 403],
    [{ kind: 'rate-limit' }, 429],
    [{ kind: 'status', status: 500 }, 500],
    [{ kind: 'status', status: 503 }, 503],
  ])('%j repeats the status in the body', async (fault, status) => {
    simulator.faults.add(fault)
    const reply = await info()
    expect([reply.status, reply.json()]).toMatchObject([status, { error: { code: status } }])
    expect(simulator.calls().at(-1)?.faults).toEqual([fault.kind])
  })

  test('a rate limit has Retry-After, unless the rule omits it', async () => {
    simulator.faults.add({ kind: 'rate-limit', retryAfterSeconds: 7, times: 1 })
    expect((await info()).headers['retry-after']).toBe('7')
    simulator.faults.add({ kind: 'rate-limit', retryAfterSeconds: null })
    expect((await info()).headers).not.toHaveProperty('retry-after')
  })

  test('status and body may disagree, the body may be a page of a proxy, or nothing', async () => {
    const { remove } = simulator.faults.add({ kind: 'status', status: 503, bodyCode: 500, message: 'm' })
    const differing = await info()
    expect([differing.status, differing.json()]).toEqual([503, { error: { code: 500, message: 'm' } }])
    remove()
    const headers = { 'x-forwarded-for': 'p' }
    simulator.faults.add({ kind: 'status', status: 403, body: 'html', headers, times: 1 })
    const page = await info()
    expect([page.status, page.headers['content-type'], page.headers['x-forwarded-for']]).toEqual([
      403,
      'text/html; charset=utf-8',
      'p',
    ])
    simulator.faults.add({ kind: 'status', status: 204, body: 'empty' })
    expect(await info()).toMatchObject({ status: 204, text: '' })
  })

  test('take the form of the API that is called', async () => {
    simulator.faults.add({ kind: 'status', status: 503 })
    const body = [{ schemaId: SCHEMA_IDS.cluster, value: {} }]
    const settings = await callApi(simulator, '/v2/settings/objects', { method: 'POST', body })
    expect(settings.json()).toMatchObject([{ error: { code: 503 } }])
    const registry = await send(simulator, `https://${simulator.authority}/v2/`)
    expect(registry.json()).toMatchObject({ errors: [{ message: expect.any(String) }] })
    const sso = await send(simulator, simulator.tokenUrl, { method: 'POST', body: '' })
    expect(sso.json()).toMatchObject({ error: 'temporarily_unavailable' })
  })
})

describe('a rule', () => {
  test('is injected as often as the rule says, then never again', async () => {
    simulator.faults.add({ kind: 'status', status: 500, times: 2 })
    expect([(await info()).status, (await info()).status, (await info()).status]).toEqual([500, 500, 200])
    expect(simulator.faults.list()).toEqual([])
  })

  test('is injected until it is cleared', async () => {
    simulator.faults.add({ kind: 'status', status: 500 })
    expect([(await info()).status, (await info()).status]).toEqual([500, 500])
    expect(simulator.faults.list()).toMatchObject([{ injected: 2 }])
    simulator.faults.clear()
    expect((await info()).status).toBe(200)
  })

  test.each([
    ['a call', { operation: 'agent-connection-info' }],
    ['a path', { path: '/agent/connectioninfo' }],
    ['a token', { token: 'apiToken', operation: 'agent-connection-info' }],
    ['a method', { method: 'GET', path: 'agent/' }],
  ])('about %s does not affect other calls', async (_name, match) => {
    simulator.faults.add({ kind: 'status', status: 500, ...match })
    expect((await info()).status).toBe(500)
    expect((await callApi(simulator, GATEWAY_INFO)).status).toBe(200)
  })

  test('about a tenant does not affect the others', async () => {
    simulator.faults.add({ kind: 'status', status: 500, tenant: 'other' })
    expect([(await info('abc12345')).status, (await info('other')).status]).toEqual([200, 500])
  })

  test('beyond the hundredth is refused', () => {
    for (let index = 0; index < 100; index++) simulator.faults.add({ kind: 'malformed-json' })
    expect(() => simulator.faults.add({ kind: 'malformed-json' })).toThrow(/clear some/)
  })
})

describe('responses that are delayed or malformed', () => {
  test('slow ones wait for the clock', async () => {
    simulator.faults.add({ kind: 'slow', delayMs: 60_000, times: 1 })
    let hasResponse = false
    const reply = info().finally(() => {
      hasResponse = true
    })
    await expect.poll(() => simulator.faults.list(), { timeout: 20_000 }).toEqual([])
    await clock.advance(59_000)
    expect(hasResponse).toBe(false)
    await clock.advance(1_000)
    expect((await reply).status).toBe(200)
    expect(simulator.calls().at(-1)?.durationMs).toBe(60_000)
  })

  test('a connection can break before the headers or in the middle of a body', async () => {
    simulator.faults.add({ kind: 'cut', times: 1 })
    await expect(info()).rejects.toThrow(/socket hang up|ECONNRESET/)
    expect(simulator.calls().at(-1)).toMatchObject({ status: 0, faults: ['cut'] })
    simulator.faults.add({ kind: 'cut', afterBytes: 100_000, times: 1 })
    const download = '/v1/deployment/installer/agent/unix/paas/latest?arch=x86&flavor=multidistro'
    await expect(callApi(simulator, download)).rejects.toThrow(/aborted/)
    await expect.poll(() => simulator.calls().at(-1)?.sentBytes, { timeout: 20_000 }).toBe(100_000)
    expect((await callApi(simulator, download)).status).toBe(200)
  })

  test('a content type can be wrong while the body is right', async () => {
    simulator.faults.add({ kind: 'content-type', contentType: 'text/html' })
    const reply = await info()
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/html'])
    expect(reply.json()).toHaveProperty('tenantUUID')
  })

  test('JSON can be broken while HTTP is right', async () => {
    simulator.faults.add({ kind: 'malformed-json' })
    const reply = await info()
    expect([reply.status, reply.headers['content-length']]).toEqual([200, String(reply.bytes.length)])
    expect(() => reply.json()).toThrow(SyntaxError)
  })

  test('kinds add up: slow, and then cut', async () => {
    simulator.faults.add({ kind: 'slow', delayMs: 1_000, times: 1 })
    simulator.faults.add({ kind: 'cut', times: 1 })
    const reply = info()
    reply.catch(() => undefined)
    await expect.poll(() => simulator.faults.list(), { timeout: 20_000 }).toEqual([])
    await clock.advance(1_000)
    await expect(reply).rejects.toThrow(/socket hang up|ECONNRESET/)
  })
})

describe('the certificate', () => {
  test('expires by a rule and is valid again afterwards', async () => {
    const { remove } = simulator.faults.add({ kind: 'expired-certificate' })
    await expect(info()).rejects.toThrow(/certificate has expired/)
    const careless = await send(simulator, `${simulator.url('abc12345')}${INFO}`, { rejectUnauthorized: false })
    expect(careless.status).toBe(401)
    remove()
    expect((await info()).status).toBe(200)
  })

  test('is not trusted by clients that do not know the authority', async () => {
    await expect(callApi(simulator, INFO, { ca: [] })).rejects.toThrow(/unable to verify|self-signed/)
  })
})
