/** Which failures are retried. */
import { describe, expect, it } from 'vitest'
import { ApiError, ConnectionError } from './errors.ts'
import type { RequestTarget } from './request-target.ts'
import { requestedDelayMs } from './retry-policy.ts'

const target: RequestTarget = { verb: 'get', group: '', resource: 'pods', name: 'a' }
const isRetried = (error: unknown, isIdempotent: boolean) => requestedDelayMs(error, isIdempotent) !== undefined

describe('a failed request', () => {
  it.each([429, 502, 503, 504])('retries an idempotent request after %i', (status) => {
    expect(isRetried(new ApiError(target, status), true)).toBe(true)
  })

  it.each([400, 401, 403, 404, 409, 410, 422, 500])('treats %i as final', (status) => {
    expect(isRetried(new ApiError(target, status), true)).toBe(false)
  })

  it('retries a create only when the server cannot have processed it', () => {
    expect(isRetried(new ApiError(target, 503), false)).toBe(false)
    expect(isRetried(new ApiError(target, 504), false)).toBe(false)
    expect(isRetried(new ConnectionError('reset', 'request'), false)).toBe(false)
    expect(isRetried(new ConnectionError('cut off', 'response'), false)).toBe(false)
    expect(isRetried(new ApiError(target, 429), false)).toBe(true)
    expect(isRetried(new ApiError(target, 503, { retryAfterMs: 1_000 }), false)).toBe(true)
    expect(isRetried(new ConnectionError('refused', 'connect'), false)).toBe(true)
  })

  it('retries idempotent requests whose connection broke at any point', () => {
    for (const phase of ['connect', 'request', 'response'] as const) {
      expect(isRetried(new ConnectionError('lost', phase), true)).toBe(true)
    }
  })

  it('does not retry an eviction that a disruption budget forbids', () => {
    const body = { apiVersion: 'v1', kind: 'Status', details: { causes: [{ reason: 'DisruptionBudget' }] } } as const
    expect(isRetried(new ApiError(target, 429, { body }), false)).toBe(false)
  })

  it('treats errors that are not caused by the server as final', () => {
    expect(isRetried(new TypeError('bug'), true)).toBe(false)
  })

  it('waits as long as the server requests', () => {
    expect(requestedDelayMs(new ApiError(target, 429, { retryAfterMs: 7_000 }), false)).toBe(7_000)
    expect(requestedDelayMs(new ApiError(target, 429), false)).toBe(0)
  })
})
