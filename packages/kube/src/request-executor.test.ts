/** Retries, deadlines, cancellation and observers. */

import { setImmediate } from 'node:timers/promises'
import type { TransportRequest } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { describe, expect, it } from 'vitest'
import { ConfigMaps } from './builtin-resources.ts'
import { createClient } from './create-client.ts'
import { isApiError, isConnectionError, isDeadlineExceeded } from './error-predicates.ts'
import { BadResponseError } from './errors.ts'
import type { RequestReport, ServerWarning } from './observer.ts'
import { type Answer, json, pieces, ScriptedTransport, text } from './testing/scripted-transport.ts'

const key = { namespace: 'shop', name: 'settings' }
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }
const found = json(200, object)
const busy = (headers: Record<string, string> = {}) => json(503, { kind: 'Status', message: 'busy' }, headers)
const never = (request: TransportRequest) =>
  new Promise<never>((_resolve, reject) =>
    request.signal?.addEventListener('abort', () => reject(request.signal?.reason)),
  )

function setUp(...answers: Answer[]) {
  const clock = new SimulatedClock()
  const transport = new ScriptedTransport(...answers)
  const reports: RequestReport[] = []
  const warnings: ServerWarning[] = []
  const client = createClient({
    transport,
    clock,
    random: () => 0.5,
    onRequest: (report) => reports.push(report),
    onWarning: (warning) => warnings.push(warning),
  })
  return { clock, transport, client, reports, warnings }
}

describe('retries', () => {
  it('retries a read until it succeeds', async () => {
    const { client, clock, transport } = setUp(busy(), new Error('socket hang up'), found)
    const reading = client.get(ConfigMaps, key)
    await clock.advance(10_000)
    expect((await reading).metadata.name).toBe('settings')
    expect(transport.requests).toHaveLength(3)
  })

  it('waits as long as the server requests', async () => {
    const { client, clock, transport } = setUp(busy({ 'retry-after': '4' }), found)
    const writing = client.create(ConfigMaps, object)
    await clock.advance(3_999)
    expect(transport.requests).toHaveLength(1)
    await clock.advance(401)
    await writing
    expect(transport.requests).toHaveLength(2)
  })

  it('sends the same body every time', async () => {
    const { client, clock, transport } = setUp(busy(), found)
    const writing = client.apply(ConfigMaps, object)
    await clock.advance(1_000)
    await writing
    expect(transport.requests[1]?.body).toBe(transport.requests[0]?.body)
  })

  it('does not retry a create whose connection broke', async () => {
    const { client, transport } = setUp(new Error('socket hang up'), found)
    const error = await client.create(ConfigMaps, object).catch((reason: unknown) => reason)
    expect(isConnectionError(error)).toBe(true)
    expect(String(error)).toContain('create configmaps "shop/settings": socket hang up')
    expect(transport.requests).toHaveLength(1)
  })

  it('does not retry a JSON patch, which may not be idempotent', async () => {
    const { client, transport } = setUp(busy())
    const patch = { type: 'json', patch: [{ op: 'add', path: '/list/-', value: 1 }] } as const
    await expect(client.patch(ConfigMaps, key, patch)).rejects.toThrow('503')
    expect(transport.requests).toHaveLength(1)
  })

  it('gives up after the last attempt with the error of the server', async () => {
    const { client, clock, transport } = setUp(busy())
    const reading = client.get(ConfigMaps, key).catch((reason: unknown) => reason)
    await clock.advance(30_000)
    expect(isApiError(await reading)).toBe(true)
    expect(transport.requests).toHaveLength(5)
  })

  it('reports the error immediately when the wait would exceed the deadline', async () => {
    const { client } = setUp(json(429, { kind: 'Status' }, { 'retry-after': '60' }))
    await expect(client.get(ConfigMaps, key)).rejects.toMatchObject({ status: 429, retryAfterMs: 60_000 })
  })
})

describe('deadlines and cancellation', () => {
  it('ends a call that hangs, naming the object and the limit', async () => {
    const { client, clock } = setUp(never)
    const reading = client.get(ConfigMaps, key, { timeoutMs: 5_000 }).catch((reason: unknown) => reason)
    await clock.advance(5_000)
    expect(isDeadlineExceeded(await reading)).toBe(true)
    expect(String(await reading)).toContain('get configmaps "shop/settings": no response within 5000 ms')
  })

  it('reports the last failure as the cause when time runs out during retries', async () => {
    const { client, clock } = setUp(busy(), never)
    const reading = client.get(ConfigMaps, key, { timeoutMs: 5_000 }).catch((reason: unknown) => reason)
    await clock.advance(5_000)
    expect(await reading).toMatchObject({ code: 'KUBE_DEADLINE_EXCEEDED', cause: { status: 503 } })
  })

  it('does not wait for a transport that ignores its signal', async () => {
    const { client, clock } = setUp(() => new Promise<never>(() => undefined))
    const reading = client.get(ConfigMaps, key).catch((reason: unknown) => reason)
    await clock.advance(30_000)
    expect(isDeadlineExceeded(await reading)).toBe(true)
  })

  it("rejects with the signal's own reason, before, during and between attempts", async () => {
    const reason = new Error('shutting down')
    const { client, transport } = setUp(busy())
    await expect(client.get(ConfigMaps, key, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(transport.requests).toHaveLength(0)

    const hanging = new AbortController()
    const duringTry = setUp(never)
      .client.get(ConfigMaps, key, { signal: hanging.signal })
      .catch((error: unknown) => error)
    await setImmediate()
    hanging.abort(reason)
    expect(await duringTry).toBe(reason)

    const waiting = new AbortController()
    const betweenTries = client.get(ConfigMaps, key, { signal: waiting.signal }).catch((error: unknown) => error)
    await setImmediate()
    waiting.abort(reason)
    expect(await betweenTries).toBe(reason)
  })

  it('waits without limit on request', async () => {
    const { client, clock } = setUp(never)
    const controller = new AbortController()
    const reading = client.get(ConfigMaps, key, { timeoutMs: Number.POSITIVE_INFINITY, signal: controller.signal })
    const outcome = reading.catch((reason: unknown) => reason)
    await clock.advance(86_400_000)
    expect(clock.pendingTimers).toBe(0)
    controller.abort('done')
    expect(await outcome).toBe('done')
  })

  it('leaves no timer behind', async () => {
    const { client, clock } = setUp(found)
    await client.get(ConfigMaps, key)
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('invalid responses', () => {
  it('are not quoted when they are not JSON', async () => {
    const { client } = setUp(text(200, '<html>secret</html>', { 'content-type': 'text/html' }))
    const error = await client.get(ConfigMaps, key).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(BadResponseError)
    expect(String(error)).not.toContain('secret')
    expect(String(error)).toContain('(200 text/html) is not JSON')
  })

  it('are not read beyond the limit', async () => {
    const transport = new ScriptedTransport({ status: 200, headers: {}, body: pieces('12345', '67890') })
    const client = createClient({ transport, maxResponseBytes: 8 })
    await expect(client.get(ConfigMaps, key)).rejects.toThrow(/exceeds 8 bytes/)
  })

  it('are retried when a read was interrupted', async () => {
    const broken = async function* () {
      yield Buffer.from('{"apiV')
      throw new Error('other side closed')
    }
    const { client, clock } = setUp({ status: 200, headers: {}, body: broken() }, found)
    const reading = client.get(ConfigMaps, key)
    await clock.advance(1_000)
    expect((await reading).kind).toBe('ConfigMap')
  })
})

describe('observers', () => {
  it('are notified of every attempt: only names and numbers', async () => {
    const { client, clock, reports } = setUp(busy(), found)
    const reading = client.get(ConfigMaps, key)
    await clock.advance(1_000)
    await reading
    const target = {
      verb: 'get',
      group: '',
      version: 'v1',
      resource: 'configmaps',
      namespace: 'shop',
      name: 'settings',
    }
    expect(reports).toEqual([
      { ...target, method: 'GET', attempt: 0, durationMs: 0, status: 503, errorCode: 'KUBE_API' },
      { ...target, method: 'GET', attempt: 1, durationMs: 0, status: 200 },
    ])
  })

  it('are notified of warnings of the server', async () => {
    const { client, warnings } = setUp(json(200, object, { warning: ['299 - "is deprecated"'] }))
    await client.get(ConfigMaps, key)
    expect(warnings).toMatchObject([{ text: 'is deprecated', target: { verb: 'get', name: 'settings' } }])
  })

  it('cannot break a request by throwing', async () => {
    const logged: unknown[] = []
    const client = createClient({
      transport: new ScriptedTransport(found),
      onRequest: () => {
        throw new Error('bug in a hook')
      },
      logger: { debug: () => undefined, warn: (fields) => logged.push(fields) },
    })
    await client.get(ConfigMaps, key)
    expect(logged).toEqual([{ err: 'bug in a hook' }])
  })

  it('log a repeated warning only once', async () => {
    const logged: unknown[] = []
    const client = createClient({
      transport: new ScriptedTransport(json(200, object, { warning: '299 - "is deprecated"' })),
      logger: { debug: () => undefined, warn: (fields) => logged.push(fields) },
    })
    await client.get(ConfigMaps, key)
    await client.get(ConfigMaps, key)
    expect(logged).toEqual([{ request: 'get configmaps "shop/settings"', warning: 'is deprecated' }])
  })
})
