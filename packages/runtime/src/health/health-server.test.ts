import { connect } from 'node:net'
import { SimulatedClock } from '@reeve/http/testing'
import { afterEach, expect, test } from 'vitest'
import { createMetricsRegistry } from '../metrics/registry.ts'
import { HealthChecks } from './health-checks.ts'
import { HealthServer, type HealthServerOptions } from './health-server.ts'

const running: { stop: AbortController; done: Promise<void> }[] = []

afterEach(async () => {
  for (const { stop, done } of running.splice(0)) {
    stop.abort()
    await done
  }
})

async function start(options: HealthServerOptions) {
  const server = new HealthServer({ host: '127.0.0.1', port: 0, ...options })
  const stop = new AbortController()
  running.push({ stop, done: server.run(stop.signal) })
  const { port } = await server.address()
  return { port, get: (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init) }
}

function checks(...entries: [string, () => void | Promise<void>][]) {
  const set = new HealthChecks()
  for (const [name, check] of entries) set.add(name, check)
  return set
}

const fail = (message: string) => () => {
  throw new Error(message)
}

test('a process without checks is alive and ready', async () => {
  const { get } = await start({ health: new HealthChecks(), readiness: new HealthChecks() })
  for (const path of ['/healthz', '/livez', '/readyz']) {
    const response = await get(path)
    expect([response.status, await response.text()]).toEqual([200, 'ok'])
  }
})

test('one failing check fails the whole and says which and why', async () => {
  const { get } = await start({ readiness: checks(['ping', () => undefined], ['cache', fail('not\nfilled yet')]) })
  const response = await get('/readyz')
  expect(response.status).toBe(503)
  expect(await response.text()).toBe('[+]ping ok\n[-]cache failed: not filled yet\nreadyz check failed\n')
})

test('verbose lists the checks that pass', async () => {
  const { get } = await start({ health: checks(['ping', () => undefined]) })
  expect(await (await get('/healthz?verbose')).text()).toBe('[+]ping ok\nhealthz check passed\n')
})

test('a check can be requested alone or excluded', async () => {
  const { get } = await start({ readiness: checks(['good', () => undefined], ['bad', fail('broken')]) })
  expect((await get('/readyz/good')).status).toBe(200)
  expect((await get('/readyz/bad')).status).toBe(503)
  expect((await get('/readyz/other')).status).toBe(404)
  expect((await get('/readyz?exclude=bad')).status).toBe(200)
})

test('a check that is not required is shown and decides only when it is requested alone', async () => {
  const readiness = checks(['ping', () => undefined])
  readiness.add('cache', fail('cut off'), { isRequired: () => false })
  const { get } = await start({ readiness })
  expect((await get('/readyz')).status).toBe(200)
  expect(await (await get('/readyz?verbose')).text()).toBe(
    '[+]ping ok\n[-]cache failed (not required): cut off\nreadyz check passed\n',
  )
  expect((await get('/readyz/cache')).status).toBe(503)
})

test('what is not configured is not served', async () => {
  const { get } = await start({ health: new HealthChecks() })
  for (const path of ['/', '/readyz', '/metrics', '/healthz/a/b']) expect((await get(path)).status).toBe(404)
})

test('only reading is allowed', async () => {
  const { get } = await start({ health: new HealthChecks() })
  const response = await get('/healthz', { method: 'POST', body: 'x' })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  expect((await get('/healthz', { method: 'HEAD' })).status).toBe(200)
})

test('metrics are exposed with their content type', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  metrics.counter({ name: 'things_total', help: 'Things.' }).inc({})
  const { get } = await start({ metrics })
  const response = await get('/metrics')
  expect(response.headers.get('content-type')).toBe(metrics.contentType)
  expect(await response.text()).toContain('things_total 1')
})

test('a metric that throws makes an error, not a hang', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  metrics.gauge({ name: 'broken', help: 'Broken.', collect: fail('secret detail') })
  const { get } = await start({ metrics })
  const response = await get('/metrics')
  expect([response.status, await response.text()]).toEqual([500, 'internal error\n'])
})

test('a check that hangs fails after its timeout and is aborted', async () => {
  const clock = new SimulatedClock()
  const readiness = new HealthChecks({ clock, timeoutMs: 900 })
  let stopped = false
  readiness.add('slow', (signal) => {
    signal.addEventListener('abort', () => {
      stopped = true
    })
    return new Promise(() => undefined)
  })
  const results = await clock.runToCompletion(readiness.run())
  expect(results).toEqual([{ name: 'slow', isRequired: true, failure: 'no response within 900 ms' }])
  expect(stopped).toBe(true)
  expect(clock.pendingTimers).toBe(0)
})

test('secrets in a failure are not shown', async () => {
  const results = await checks(['api', fail('401 for Bearer abcdefghijkl')]).run()
  expect(results[0]?.failure).toBe('401 for Bearer [redacted]')
})

test('names are unique, valid in a path, and can be removed', () => {
  const set = checks(['one', () => undefined])
  expect(() => set.add('one', () => undefined)).toThrow('a check already has the name "one"')
  expect(() => set.add('a/b', () => undefined)).toThrow(/is not a valid name of a check/)
  const remove = set.add('two', () => undefined)
  remove()
  expect(set.has('two')).toBe(false)
})

test('a port that is taken ends the run with the error', async () => {
  const { port } = await start({ health: new HealthChecks() })
  const second = new HealthServer({ host: '127.0.0.1', port })
  await expect(second.run(new AbortController().signal)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await expect(second.whenReady()).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('an idle connection does not hold up the stop', async () => {
  const { port, get } = await start({ health: new HealthChecks() })
  await get('/healthz')
  const idle = connect(port, '127.0.0.1')
  await new Promise((resolve) => idle.once('connect', resolve))
  const [{ stop, done }] = running.splice(0) as [(typeof running)[number]]
  stop.abort()
  await done
  idle.destroy()
})
