import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CallLog } from './call-log.ts'
import { Call } from './http/call.ts'

const OUTCOME = { receivedMs: 0, durationMs: 1, status: 200, sentBytes: 0 }

function call(url: string, parts: { headers?: Record<string, string>; body?: string } = {}): Call {
  const request = new IncomingMessage(new Socket())
  request.url = url
  request.headers = parts.headers ?? {}
  const made = new Call(request, 1_000_000)
  made.bodyText = parts.body
  return made
}

function recorded(...args: Parameters<typeof call>) {
  const log = new CallLog(1)
  log.add(call(...args), OUTCOME)
  return log.list()[0]
}

test('the log of calls keeps the newest ones, and completes them when the response is sent', () => {
  const log = new CallLog(2)
  const complete = ['/1', '/2', '/3'].map((url) => log.add(call(url), OUTCOME))
  complete.forEach((each, index) => {
    each({ ...OUTCOME, sentBytes: index })
  })
  expect(log.list().map(({ path, sentBytes }) => [path, sentBytes])).toEqual([
    ['/2', 1],
    ['/3', 2],
  ])
  expect(log.count).toBe(3)
})

test('a query is recorded unchanged unless it contains a secret', () => {
  expect(recorded('/x?b=1%2C2&a=:,')?.path).toBe('/x?b=1%2C2&a=:,')
  expect(recorded('/x?Api-Token=hunter2&a=1')?.path).not.toContain('hunter2')
})

test('no secret of a body or header is kept, however deep it lies', () => {
  const secret = 'hunter2-hunter2'
  const field = fc.constantFrom('token', 'oauthClientSecret', 'password', 'client_secret', 'accessToken')
  const body = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, fc.constant(1), fc.array(tie('value')), tie('object')),
    object: fc.oneof(
      field.map((name) => ({ [name]: secret })),
      fc.dictionary(fc.string(), tie('value')),
    ),
  })).value
  fc.assert(
    fc.property(body, (value) => {
      const entry = recorded('/x', { body: JSON.stringify(value), headers: { authorization: secret, cookie: secret } })
      expect(JSON.stringify(entry)).not.toContain(secret)
    }),
  )
})

test.each([
  ['a form', 'grant_type=client_credentials&client_secret=hunter2', 'application/x-www-form-urlencoded'],
  ['what is neither a form nor JSON', 'hunter2', 'text/plain'],
  ['what is too large to keep', JSON.stringify({ x: 'hunter2'.repeat(1_000) }), 'application/json'],
])('%s is kept without its secrets', (_name, body, type) => {
  const entry = recorded('/x', { body, headers: { 'content-type': type } })
  expect(JSON.stringify(entry)).not.toContain('hunter2')
  expect(entry?.body).toBeDefined()
})
