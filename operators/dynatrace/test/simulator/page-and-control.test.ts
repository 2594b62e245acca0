import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { callApi, type SendOptions, send } from './support/simulator-client.ts'

let simulator: TenantSimulator

beforeEach(async () => {
  simulator = await startTenantSimulator({ tenants: [{ id: 'abc12345' }, { id: 'other' }] })
})

afterEach(() => simulator.close())

const INFO = '/v1/deployment/installer/agent/connectioninfo'
const open = (path: string, options?: SendOptions) => send(simulator, `https://${simulator.authority}${path}`, options)
const submit = (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  open(path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

describe('the page', () => {
  test('lists tenants, tokens without their secrets, and calls with the names of their tokens', async () => {
    await callApi(simulator, INFO)
    const { status, text, headers } = await open('/')
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toContain(`https://${simulator.authority}/e/abc12345/api`)
    expect(text).toContain('Tenant other')
    expect(text).toContain('InstallerDownload, DataExport')
    expect(text).toMatch(
      /<td data-label="Method">GET<\/td><td data-label="Path"><code>\/e\/abc12345\/api\/v1\/deployment/,
    )
    expect(text).toMatch(/>200<\/td><td data-label="Duration">\d+ ms<\/td>.*>abc12345<\/td>.*>apiToken<\/td>/)
    for (const tenant of simulator.tenants()) {
      for (const { value, masked } of tenant.tokens.list()) {
        expect(text).not.toContain(value)
        expect(text).toContain(masked)
      }
      for (const { secret } of tenant.oauth.list()) expect(text).not.toContain(secret)
      expect(text).not.toContain(tenant.connectionInfo.tenantToken)
    }
  })

  test('works without scripts, refreshes, and stops refreshing on request', async () => {
    const { text, headers } = await open('/')
    expect(text).not.toContain('<script')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(text).toContain('<meta http-equiv="refresh" content="5">')
    expect(text).toContain('<html lang="en">')
    expect((await open('/?refresh=0')).text).not.toContain('http-equiv="refresh"')
  })

  test('cannot be made to show markup that a caller sent', async () => {
    await callApi(simulator, `/v1/%3Cscript%3E?x=<script>alert(1)</script>`)
    await callApi(simulator, `${INFO}?networkZone="><b>`)
    const { text } = await open('/')
    expect(text).not.toMatch(/<script|<b>/)
  })

  test('leaves no trace among the calls', async () => {
    await open('/')
    await open('/control/calls')
    expect(simulator.calls()).toEqual([])
  })

  test('adds and clears fault rules by its buttons', async () => {
    const made = await submit('/control/faults', { preset: 'unavailable', operation: '', tenant: 'other', times: '' })
    expect([made.status, made.headers.location]).toEqual([303, '/?refresh=0#faults'])
    expect((await callApi(simulator, INFO, { tenant: 'other' })).status).toBe(503)
    expect((await callApi(simulator, INFO)).status).toBe(200)
    expect((await open('/')).text).toContain('injected into 1 call')
    const [{ id } = { id: 0 }] = simulator.faults.list()
    await submit(`/control/faults/${id}/remove`)
    expect((await callApi(simulator, INFO, { tenant: 'other' })).status).toBe(200)
    await submit('/control/faults', { preset: 'cut', times: '3' })
    expect(simulator.faults.list()).toMatchObject([{ rule: { kind: 'cut', times: 3 } }])
    await submit('/control/faults/clear')
    expect(simulator.faults.list()).toEqual([])
    await submit('/control/calls/clear')
    expect(simulator.calls()).toEqual([])
  })

  test('rejects forms of other origins', async () => {
    const refused = await submit('/control/faults', { preset: 'cut' }, { origin: 'https://elsewhere.example' })
    expect(refused.status).toBe(403)
    expect((await submit('/control/faults', { preset: 'cut' }, { origin: 'null' })).status).toBe(403)
    expect(simulator.faults.list()).toEqual([])
    // Otherwise browsers would hide the origin of the page's own forms.
    expect((await open('/')).headers['referrer-policy']).toBe('same-origin')
    const own = await submit('/control/faults/clear', {}, { origin: `https://${simulator.authority}` })
    expect(own.status).toBe(303)
  })
})

describe('the control API', () => {
  const post = (body: unknown) => open('/control/faults', { method: 'POST', body })

  test('adds, lists and removes rules', async () => {
    const added = await post({ kind: 'rate-limit', operation: 'agent-connection-info', retryAfterSeconds: 3, times: 2 })
    expect([added.status, added.json()]).toMatchObject([201, { id: expect.any(Number) }])
    expect((await open('/control/faults')).json()).toMatchObject({
      faults: [{ rule: { kind: 'rate-limit', retryAfterSeconds: 3, times: 2 }, injected: 0 }],
    })
    const limited = await callApi(simulator, INFO)
    expect([limited.status, limited.headers['retry-after']]).toEqual([429, '3'])
    await open(`/control/faults/${(added.json() as { id: number }).id}`, { method: 'DELETE' })
    expect((await callApi(simulator, INFO)).status).toBe(200)
    await post({ kind: 'malformed-json' })
    await open('/control/faults', { method: 'DELETE' })
    expect(simulator.faults.list()).toEqual([])
  })

  test.each([
    [{ kind: 'status', status: 503, bodyCode: 500, message: 'm', body: 'html' }],
    [{ kind: 'slow', delayMs: 5, method: 'GET', path: '/x', token: 'apiToken' }],
    [{ kind: 'cut', afterBytes: 10 }],
    [{ kind: 'content-type', contentType: 'text/plain' }],
    [{ kind: 'unauthorized' }],
    [{ kind: 'missing-scope' }],
    [{ kind: 'rate-limit', retryAfterSeconds: null }],
  ])('accepts %j', async (rule) => {
    expect((await post(rule)).status).toBe(201)
    expect(simulator.faults.list()).toMatchObject([{ rule }])
  })

  test.each([
    ['kind', { kind: 'earthquake' }],
    ['preset', { preset: 'earthquake' }],
    ['status', { kind: 'status' }],
    ['status', { kind: 'status', status: 99 }],
    ['delayMs', { kind: 'slow', delayMs: -1 }],
    ['times', { kind: 'cut', times: 'often' }],
    ['contentType', { kind: 'content-type' }],
    ['contentType', { kind: 'content-type', contentType: 'text/plain\r\nx: y' }],
    ['tenant', { kind: 'cut', tenant: 5 }],
    ['', []],
  ])('names the field that is wrong: %s', async (path, rule) => {
    const reply = await post(rule)
    expect([reply.status, reply.json()]).toMatchObject([400, { error: { constraintViolations: [{ path }] } }])
    expect(simulator.faults.list()).toEqual([])
  })

  test('shows tenants masked, and calls', async () => {
    await callApi(simulator, INFO)
    const tenants = await open('/control/tenants')
    expect(tenants.json()).toMatchObject({ tenants: [{ id: 'abc12345', tokens: [{ name: 'apiToken' }, {}] }, {}] })
    expect(tenants.text).not.toContain(simulator.tenant('abc12345').tokens.get('apiToken')?.value)
    expect((await open('/control/calls')).json()).toMatchObject({ count: 1, calls: [{ status: 200 }] })
    expect((await open('/control/calls', { method: 'DELETE' })).status).toBe(204)
    expect(simulator.calls()).toEqual([])
  })
})
