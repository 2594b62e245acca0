import { REDACTED } from '@reeve/http'
import { expect, test } from 'vitest'
import { RuntimeError } from '../runtime-error.ts'
import { redact } from './redact.ts'

test.each([
  'token',
  'apiToken',
  'access_token',
  'Authorization',
  'proxy-authorization',
  'password',
  'clientSecret',
  'client_secret',
  'secret',
  'set-cookie',
  'apiKey',
  'privateKey',
  'tls.key',
  'credentials',
])('a value under %s is replaced, however deep', (key) => {
  expect(redact({ [key]: 'hunter2' })).toEqual({ [key]: REDACTED })
  expect(redact({ a: [{ b: { [key]: { nested: 'hunter2' } } }] })).toEqual({ a: [{ b: { [key]: REDACTED } }] })
})

test.each(['secretName', 'tokenExpiry', 'tokenUrl', 'passwordPolicy', 'name', 'key', 'hasToken2'])(
  'a value under %s stays: it is about a secret, not one',
  (key) => {
    expect(redact({ [key]: 'visible' })).toEqual({ [key]: 'visible' })
  },
)

test('whether a secret is set may be logged', () => {
  expect(redact({ token: true, password: undefined })).toEqual({ token: true, password: undefined })
})

test('secrets inside texts are replaced', () => {
  expect(redact('sent Authorization: Bearer abc.def-ghi to it')).toBe(`sent Authorization: Bearer ${REDACTED} to it`)
  expect(redact('authorization=Basic dXNlcjpodW50ZXI=')).toBe(`authorization=Basic ${REDACTED}`)
  expect(redact('the authorization header is missing, Basic information is there')).toContain('Basic information')
  expect(redact('https://user:hunter2@host/path')).toBe(`https://user:${REDACTED}@host/path`)
  expect(redact('jwt eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0abc.c2lnbmF0dXJl!')).toBe(`jwt ${REDACTED}!`)
  const key = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----'
  expect(redact(`before ${key} after`)).toBe(`before ${REDACTED} after`)
})

test('an error keeps name, code, message, stack and cause, all without secrets', () => {
  const cause = Object.assign(new Error('Bearer abcdefgh refused'), { code: 'E_AUTH' })
  const error = new TypeError('outer', { cause })
  expect(redact({ error })).toMatchObject({
    error: { type: 'TypeError', message: 'outer', cause: { code: 'E_AUTH', message: `Bearer ${REDACTED} refused` } },
  })
  expect(JSON.stringify(redact(error))).not.toContain('abcdefgh')
})

test('an error is named by its class, also where the class sets no name', () => {
  class LostConnection extends Error {}
  expect(redact(new LostConnection('gone'))).toMatchObject({ type: 'LostConnection' })
  expect(redact(new RuntimeError('STALE_VIEW', 'old'))).toMatchObject({ type: 'RuntimeError', code: 'STALE_VIEW' })
})

test('an expected error has no stack, an unexpected one does', () => {
  expect(redact(new RuntimeError('STALE_VIEW', 'old'))).not.toHaveProperty('stack')
  expect(redact(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))).not.toHaveProperty('stack')
  expect(redact(new TypeError('x is undefined'))).toHaveProperty('stack')
  expect(redact(Object.assign(new TypeError('bad call'), { code: 'ERR_INVALID_ARG_TYPE' }))).toHaveProperty('stack')
})

test('an aggregate keeps its errors', () => {
  const all = new AggregateError([new RuntimeError('ONE', 'first'), new Error('second')], 'both')
  expect(redact(all)).toMatchObject({ type: 'AggregateError', errors: [{ code: 'ONE' }, { message: 'second' }] })
})

test('a cycle or a deep structure ends instead of hanging', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  expect(JSON.stringify(redact(cyclic))).toContain('[nested]')
})

test('bytes are counted, not shown', () => {
  expect(redact({ body: new Uint8Array(3) })).toEqual({ body: '[3 bytes]' })
})

test('a field named __proto__ is redacted like any other', () => {
  const value: unknown = JSON.parse('{"__proto__":{"password":"hunter2","user":"jane"}}')
  expect(JSON.stringify(redact(value))).toBe('{"__proto__":{"password":"[redacted]","user":"jane"}}')
})

test('secrets of a vendor are replaced wherever texts are, by the patterns given', () => {
  const error = new Error('token v1-abcdef is unknown')
  const safe = redact({ error, notes: ['v1-abcdef'] }, [/\bv1-\w+/g])
  expect(safe).toMatchObject({ error: { message: `token ${REDACTED} is unknown` }, notes: [REDACTED] })
  expect(JSON.stringify(safe)).not.toContain('abcdef')
})
