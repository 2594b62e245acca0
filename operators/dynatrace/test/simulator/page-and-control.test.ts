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

interface Board {
  readonly title: string
  readonly sections: readonly {
    readonly type: string
    readonly title: string
    readonly rows: readonly (readonly (string | { readonly text: string; readonly detail?: string })[])[]
    readonly rowActions?: readonly { readonly method: string; readonly path: string }[]
  }[]
}

const readBoard = async () => {
  const reply = await open('/control/board')
  const board = reply.json() as Board
  return { text: reply.text, board, section: (title: string) => board.sections.find((one) => one.title === title) }
}

describe('the page', () => {
  test('lists tenants, tokens without their secrets, and calls with the names of their tokens', async () => {
    await callApi(simulator, INFO)
    const { text, section } = await readBoard()
    expect(text).toContain(`https://${simulator.authority}/e/abc12345/api`)
    expect(section('Tenant other')).toBeDefined()
    expect(text).toContain('InstallerDownload, DataExport')
    const [call = []] = section('Calls')?.rows ?? []
    expect(call.slice(1)).toEqual([
      { text: '200', tone: 'good' },
      { text: 'agent-connection-info', detail: expect.stringMatching(/^GET \/e\/abc12345\/api\/v1\/deployment/) },
      expect.stringMatching(/^\d+ ms$/),
      'abc12345',
      'apiToken',
    ])
    for (const tenant of simulator.tenants()) {
      for (const { value, masked } of tenant.tokens.list()) {
        expect(text).not.toContain(value)
        expect(text).toContain(masked)
      }
      for (const { secret } of tenant.oauth.list()) expect(text).not.toContain(secret)
      expect(text).not.toContain(tenant.connectionInfo.tenantToken)
    }
  })

  test('is served with its script and style, which load nothing from elsewhere', async () => {
    const { status, text, headers } = await open('/')
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(text).toContain('<html lang="en">')
    expect(text).toContain('data-board="/control/board"')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    const files = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
    expect(files).toHaveLength(2)
    for (const path of files) {
      const file = await open(path)
      expect([file.status, file.headers['x-content-type-options']], path).toEqual([200, 'nosniff'])
    }
    expect((await open('/main-other.js')).status).toBe(404)
  })

  test('shows faults in words, and what they did to a call', async () => {
    await open('/control/faults', { method: 'POST', body: { preset: 'unavailable', tenant: 'other', times: 2 } })
    expect((await callApi(simulator, INFO, { tenant: 'other' })).status).toBe(503)
    expect((await callApi(simulator, INFO)).status).toBe(200)
    const { section } = await readBoard()
    expect(section('Faults')?.rows).toEqual([
      [{ text: 'status 503 for every call of tenant other, 2 times', tone: 'bad' }, '1'],
    ])
    expect(section('Calls')?.rows[1]?.[1]).toEqual({ text: '503', tone: 'bad', detail: 'fault: status' })
    const [{ method, path } = { method: '', path: '' }] = section('Faults')?.rowActions ?? []
    expect((await open(path, { method })).status).toBe(204)
    expect((await callApi(simulator, INFO, { tenant: 'other' })).status).toBe(200)
  })

  test('leaves no trace among the calls', async () => {
    await open('/')
    await open('/control/board')
    await open('/control/calls')
    expect(simulator.calls()).toEqual([])
  })

  test('accepts nothing from pages of other origins', async () => {
    const add = (origin: string) =>
      open('/control/faults', { method: 'POST', body: { preset: 'cut' }, headers: { origin } })
    expect((await add('https://elsewhere.example')).status).toBe(403)
    expect((await add('null')).status).toBe(403)
    expect(simulator.faults.list()).toEqual([])
    expect((await add(`https://${simulator.authority}`)).status).toBe(201)
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
