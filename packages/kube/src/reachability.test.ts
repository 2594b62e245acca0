import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'
import { ConnectionError } from './errors.ts'
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
  expect(warnings).toEqual([])
})
