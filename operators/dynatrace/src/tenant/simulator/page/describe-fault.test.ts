import { expect, test } from 'vitest'
import type { FaultRule } from '../fault-rules.ts'
import { describeFault } from './describe-fault.ts'

test.each<readonly [FaultRule, string]>([
  [{ kind: 'status', status: 503, times: 3 }, 'status 503 for every call, 3 times'],
  [{ kind: 'status', status: 503, body: 'html' }, 'status 503 with an HTML page for every call, until removed'],
  [
    { kind: 'rate-limit', retryAfterSeconds: 5, operation: 'settings-list', tenant: 'abc12345', times: 1 },
    'status 429 with Retry-After 5 s for settings-list of tenant abc12345, once',
  ],
  [
    { kind: 'cut', afterBytes: 20, method: 'GET', path: '/v1', token: 'apiToken' },
    'connection cut after 20 bytes of the body for every call by GET to /v1 with apiToken, until removed',
  ],
  [{ kind: 'slow', delayMs: 10_000 }, '10000 ms delay for every call, until removed'],
  [{ kind: 'expired-certificate' }, 'expired certificate'],
])('the page of a tenant describes %j in words', (rule, text) => {
  expect(describeFault(rule)).toBe(text)
})
