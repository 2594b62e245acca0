import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { systemClock } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import { expect, test } from 'vitest'
import { ConfigMaps } from './builtin-resources.ts'
import { createClient } from './create-client.ts'
import { ConnectionError } from './errors.ts'
import { explainFailure } from './explain-failure.ts'
import { Reachability } from './reachability.ts'

function setUp() {
  let nowMs = 0
  const warnings: string[] = []
  const reachability = new Reachability({
    server: 'https://127.0.0.1:6443',
    clock: { ...systemClock, now: () => nowMs },
    logger: { debug: () => undefined, warn: (_fields, message) => warnings.push(message) },
  })
  const fail = () =>
    reachability.attempted(
      undefined,
      new ConnectionError('list pods: connect ECONNREFUSED', 'connect', { cause: new Error('connect ECONNREFUSED') }),
    )
  return { reachability, warnings, fail, wait: (durationMs: number) => (nowMs += durationMs) }
}

test('a server that does not respond is reported once, in a sentence that names it and the reason', () => {
  const { warnings, fail } = setUp()
  for (let i = 0; i < 50; i++) fail()
  expect(warnings).toEqual([
    'cannot reach the API server https://127.0.0.1:6443 (connect ECONNREFUSED); retrying. Check the address and whether the server runs',
  ])
})

test('a server that accepts connections and stays silent is reported with another remedy than an address', () => {
  const { reachability, warnings } = setUp()
  reachability.unanswered(9_999)
  expect(warnings).toEqual([])
  reachability.unanswered(60_004)
  reachability.unanswered(60_002)
  expect(warnings).toEqual([
    'cannot reach the API server https://127.0.0.1:6443 (no response within 60 s); retrying. ' +
      'Check the load of the server, and whether a firewall or proxy drops the connection',
  ])
})

test('it is reported again every minute while it lasts', () => {
  const { warnings, fail, wait } = setUp()
  for (let second = 0; second <= 120; second++) {
    fail()
    wait(1_000)
  }
  expect(warnings).toHaveLength(3)
})

test('the first response ends it; an error status is a response', () => {
  const { reachability, warnings, fail } = setUp()
  fail()
  reachability.attempted(503, new Error('unavailable'))
  reachability.attempted(200, undefined)
  expect(warnings.slice(1)).toEqual(['the API server https://127.0.0.1:6443 responds again'])
  fail()
  expect(warnings).toHaveLength(3)
})

test('errors that say nothing about the connection are not reported', () => {
  const { reachability, warnings } = setUp()
  reachability.attempted(undefined, new TypeError('a bug'))
  expect(warnings).toEqual([])
})

test('a certificate that is not trusted is reported with another remedy than an address', () => {
  const { reachability, warnings } = setUp()
  const cause = Object.assign(new Error('self-signed certificate'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  reachability.attempted(undefined, new ConnectionError('list pods: self-signed', 'connect', { cause }))
  expect(warnings[0]).toMatch(/\(self-signed certificate\); retrying. Check certificate-authority/)
})

test('rejected credentials are reported once a minute, and when they are accepted again', () => {
  const { reachability, warnings, wait } = setUp()
  for (let second = 0; second < 90; second++) {
    reachability.attempted(401, new Error('unauthorized'))
    wait(1_000)
  }
  expect(warnings).toHaveLength(2)
  expect(warnings[0]).toMatch(/rejects the credentials \(401 Unauthorized\). Check the token/)
  reachability.attempted(403, new Error('forbidden'))
  expect(warnings.at(-1)).toBe('the API server https://127.0.0.1:6443 accepts the credentials again')
})

test('requests that fail because the client is closed are not reported', () => {
  const { reachability, warnings, fail } = setUp()
  reachability.stopReporting()
  fail()
  reachability.unanswered(60_000)
  expect(warnings).toEqual([])
})

test('a client whose server is silent says so, although its caller gives up before the client does', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const connected = once(silent, 'connection')
  const clock = new SimulatedClock()
  const warnings: string[] = []
  const logger = { debug: () => undefined, warn: (_fields: object, message: string) => void warnings.push(message) }
  const config = { server, source: 'test', namespace: 'default', trust: {} }
  const client = createClient({ config, clock, logger })
  const caller = new AbortController()
  const given = client.list(ConfigMaps, { timeoutMs: 60_000, signal: caller.signal }).catch((error: unknown) => error)
  const own = client.get(ConfigMaps, { namespace: 'shop', name: 'a' }).catch((error: unknown) => error)
  await connected
  await clock.advance(30_000)
  expect(explainFailure(await own)).toContain(`the API server ${server} does not respond in time: get configmaps`)
  caller.abort(new Error('given up'))
  expect(await given).toMatchObject({ message: 'given up' })
  expect(warnings).toEqual([expect.stringContaining(`cannot reach the API server ${server} (no response within 30 s)`)])
  await client.close()
  silent.close()
})
