import { request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import { SimulatedClock } from '@reeve/http/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type SimulatorOptions, startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { callApi, send } from './support/simulator-client.ts'

let simulator: TenantSimulator

beforeEach(async () => {
  simulator = await startTenantSimulator({ maxCalls: 5 })
})

afterEach(() => simulator.close())

const INFO = '/v1/deployment/installer/agent/connectioninfo'

function openSocket(): Promise<TLSSocket> {
  const { hostname, port } = new URL(simulator.url('abc12345'))
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca: simulator.caCertificate })
    socket.once('secureConnect', () => resolve(socket))
    socket.once('error', reject)
  })
}

function untilClosed(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
}

test('a body that is too large is refused, announced or not', async () => {
  const body = JSON.stringify({ token: 'x'.repeat(1024 * 1024) })
  const announced = await callApi(simulator, '/v2/apiTokens/lookup', { method: 'POST', body })
  expect([announced.status, announced.json()]).toMatchObject([413, { error: { code: 413 } }])
  const chunked = await new Promise<number>((resolve, reject) => {
    const { value = '' } = simulator.tenant('abc12345').tokens.get('apiToken') ?? {}
    const outgoing = request(
      `${simulator.url('abc12345')}/v2/apiTokens/lookup`,
      {
        method: 'POST',
        ca: simulator.caCertificate,
        agent: false,
        headers: { authorization: `Api-Token ${value}`, 'transfer-encoding': 'chunked' },
      },
      (incoming) => resolve(incoming.statusCode ?? 0),
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
  expect(chunked).toBe(413)
  expect((await callApi(simulator, INFO)).status).toBe(200)
})

test.each([
  ['no JSON', '{"token":"hunter2"'],
  ['an array', '[]'],
  ['a number', '5'],
])('a body that is %s is refused without being quoted', async (_name, body) => {
  const reply = await callApi(simulator, '/v2/apiTokens/lookup', { method: 'POST', body })
  expect(reply.status).toBe(400)
  expect(reply.text).not.toContain('hunter2')
  expect(JSON.stringify(simulator.calls())).not.toContain('hunter2')
})

test.each([
  ['a target that is no URL', 'GET // HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', '400'],
  ['a target without end', `GET /${'a'.repeat(9_000)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, '400'],
  ['headers without end', `GET / HTTP/1.1\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`, '431'],
  ['no HTTP', 'hello\r\n\r\n', '400'],
  [
    'a path that is not valid UTF-8',
    'GET /e/abc12345/api/%FF%FE HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    '404',
  ],
])('%s is survived', async (_name, text, status) => {
  const socket = await openSocket()
  const closed = untilClosed(socket)
  socket.write(text)
  expect(await closed).toContain(`HTTP/1.1 ${status}`)
  expect((await callApi(simulator, INFO)).status).toBe(200)
})

test('only the newest calls are recorded', async () => {
  for (let index = 0; index < 8; index++) await callApi(simulator, `${INFO}?number=${index}`)
  const calls = simulator.calls()
  expect(calls.map(({ number }) => number)).toEqual([4, 5, 6, 7, 8])
  expect(calls.at(-1)?.path).toContain('number=7')
})

test('a client that disconnects leaves only an entry', async () => {
  simulator.faults.add({ kind: 'slow', delayMs: 60_000 })
  const gone = new AbortController()
  const call = callApi(simulator, INFO, { signal: gone.signal })
  call.catch(() => undefined)
  await expect.poll(() => simulator.faults.list()[0]?.injected, { timeout: 20_000 }).toBe(1)
  gone.abort()
  await expect(call).rejects.toThrow(/abort/)
  await expect.poll(() => simulator.calls(), { timeout: 20_000 }).toMatchObject([{ status: 0 }])
})

test('closing finishes the calls in progress and closes all connections', async () => {
  const idle = await openSocket()
  const idleClosed = untilClosed(idle)
  await callApi(simulator, INFO)
  await simulator.close()
  await simulator.close()
  await idleClosed
  await expect(callApi(simulator, INFO)).rejects.toThrow(/ECONNREFUSED/)
})

test('closing does not wait for a response that a fault delays, even when the clock does not advance', async () => {
  await using slow = await startTenantSimulator({ clock: new SimulatedClock() })
  slow.faults.add({ kind: 'slow', delayMs: 3_600_000 })
  const call = callApi(slow, INFO)
  call.catch(() => undefined)
  await expect.poll(() => slow.faults.list()[0]?.injected, { timeout: 20_000 }).toBe(1)
  await Promise.all([slow.close(), slow.close()])
  await expect(call).rejects.toThrow(/socket hang up|ECONNRESET/)
})

test('several tenants are served at the same time and keep apart', async () => {
  const ids = ['t1', 't2', 't3', 't4']
  await using many = await startTenantSimulator({ tenants: ids.map((id) => ({ id })) })
  const body = (id: string) => [
    {
      schemaId: 'builtin:cloud.kubernetes',
      value: { label: id, clusterId: `cluster-${id}`, clusterIdEnabled: true, enabled: true },
    },
  ]
  await Promise.all(
    ids.flatMap((id) =>
      Array.from({ length: 10 }, () =>
        callApi(many, '/v2/settings/objects', { tenant: id, method: 'POST', body: body(id) }),
      ),
    ),
  )
  for (const id of ids) {
    const labels = many.tenant(id).settings.list()
    expect(labels.map(({ value }) => value.label)).toEqual([id])
  }
  expect(many.calls().filter(({ status }) => status === 200)).toHaveLength(40)
})

test('a tenant is also found by the first label of the host name, and a lone one without any', async () => {
  const path = `/api${INFO}`
  const { value = '' } = simulator.tenant('abc12345').tokens.get('apiToken') ?? {}
  const headers = { authorization: `Api-Token ${value}` }
  const lone = await send(simulator, `https://${simulator.authority}${path}`, { headers })
  expect(lone.json()).toMatchObject({ tenantUUID: 'abc12345' })
  await using two = await startTenantSimulator({
    tenants: [{ id: 'one' }, { id: 'two' }],
    tls: { hosts: ['127.0.0.1', 'two.live.dynatrace.com'] },
  })
  const token = two.tenant('two').tokens.get('apiToken')?.value ?? ''
  const named = { authorization: `Api-Token ${token}`, host: 'two.live.dynatrace.com' }
  expect((await send(two, `https://${two.authority}${path}`, { headers: named })).json()).toMatchObject({
    tenantUUID: 'two',
  })
  const anonymous = { authorization: `Api-Token ${token}` }
  expect((await send(two, `https://${two.authority}${path}`, { headers: anonymous })).status).toBe(404)
})

test.each<[string, SimulatorOptions]>([
  ['two tenants of one id', { tenants: [{ id: 'a' }, { id: 'a' }] }],
  ['an id with a slash', { tenants: [{ id: 'a/b' }] }],
  ['an agent of 3 GiB', { tenants: [{ id: 'a', agentSizeBytes: 3 * 1024 ** 3 }] }],
  ['an image of 1 GiB', { registry: { agentSizeBytes: 1024 ** 3 } }],
])('%s is refused at the start', async (_name, options) => {
  await expect(startTenantSimulator(options)).rejects.toMatchObject({ code: 'SIMULATOR_OPTIONS' })
})

test('an unknown tenant is named together with those that exist', () => {
  expect(() => simulator.tenant('nobody')).toThrow('unknown tenant nobody; use one of abc12345')
})
