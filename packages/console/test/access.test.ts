/** Who may open the console, and from where. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConsoleModel, ConsoleServer } from '../src/index.ts'
import { type OpenedConsole, openTestConsole } from './support/console-client.ts'

let opened: OpenedConsole

beforeAll(async () => {
  opened = await openTestConsole(new ConsoleModel())
})
afterAll(() => opened[Symbol.asyncDispose]())

const signIn = (token: string) => opened.send('/api/session', { method: 'POST', body: { token } })

describe('a local console', () => {
  it('serves nothing of the API without the token of its link', async () => {
    for (const path of ['/api/overview', '/api/resources', '/api/stream', '/api/health']) {
      expect((await opened.send(path)).status, path).toBe(401)
    }
    const last = opened.token.endsWith('x') ? 'y' : 'x'
    const wrong = { authorization: `Bearer ${opened.token.slice(0, -1)}${last}` }
    expect((await opened.send('/api/overview', { headers: wrong })).status).toBe(401)
    expect((await signIn('wrong')).status).toBe(401)
    expect((await opened.send('/api/session', { method: 'POST', body: 'nonsense' })).status).toBe(401)
  })

  it('moves the token into a cookie that scripts and other sites cannot use, until the user signs out', async () => {
    const { status, headers } = await signIn(opened.token)
    const [cookie = ''] = headers['set-cookie'] ?? []
    expect(status).toBe(200)
    expect(cookie).toMatch(/^reeve-console-\d+=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/)
    expect(cookie).not.toContain(opened.token)
    const [pair = ''] = cookie.split(';')
    const read = () => opened.send('/api/overview', { headers: { cookie: pair } })
    expect((await read()).status).toBe(200)
    await opened.send('/api/session', { method: 'DELETE', headers: { cookie: pair } })
    expect((await read()).status).toBe(401)
  })

  it('responds only under the names of the own machine', async () => {
    const read = async (host: string) => (await opened.send('/', { headers: { host } })).status
    expect(await read(`localhost:${opened.port}`)).toBe(200)
    expect(await read(`[::1]:${opened.port}`)).toBe(200)
    for (const host of ['evil.example', `evil.example:${opened.port}`, '10.0.0.1', 'localhost.evil.example']) {
      expect(await read(host), host).toBe(421)
    }
  })

  it('accepts no request that the page of another site could send', async () => {
    const send = async (headers: Record<string, string>, body: unknown = { token: opened.token }) =>
      (await opened.send('/api/session', { method: 'POST', headers, body })).status
    expect(await send({ origin: 'https://evil.example' })).toBe(403)
    expect(await send({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await send({ 'content-type': 'text/plain' })).toBe(415)
    expect(await send({ origin: `http://127.0.0.1:${opened.port}`, 'sec-fetch-site': 'same-origin' })).toBe(200)
  })

  it('allows no scripts, frames or connections but its own', async () => {
    const { headers } = await opened.send('/')
    expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff' })
  })

  it.each(['PUT', 'PATCH', 'OPTIONS', 'TRACE'])('has no %s', async (method) => {
    const headers = { authorization: `Bearer ${opened.token}` }
    expect((await opened.send('/api/resources', { method, headers })).status).toBe(405)
  })

  it('refuses bodies that are too large, and addresses that do not exist', async () => {
    const headers = { authorization: `Bearer ${opened.token}` }
    const body = { manifest: 'x'.repeat(300_000) }
    expect((await opened.send('/api/plan', { method: 'POST', headers, body })).status).toBe(413)
    expect((await opened.get('/api/nothing')).status).toBe(404)
    expect((await opened.get('/../package.json')).status).toBe(404)
    expect((await opened.get('/api/resource?operator=x&kind=y&name=z')).status).toBe(404)
    expect((await opened.get('/api/resource')).status).toBe(400)
  })
})

it('the console cannot be opened to others without TLS and accounts', () => {
  const create = () => new ConsoleServer({ model: new ConsoleModel(), page: new Map(), host: '0.0.0.0' })
  expect(create).toThrow('the console cannot listen on 0.0.0.0 without TLS')
})
