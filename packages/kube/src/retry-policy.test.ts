/** Which failures are retried, and when. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError, ConnectionError } from './errors.ts'
import type { RequestTarget } from './request-target.ts'
import { retryDelayMs } from './retry-policy.ts'

const target: RequestTarget = { verb: 'get', group: '', resource: 'pods', name: 'a' }
const isRetried = (error: unknown, isIdempotent: boolean) =>
  retryDelayMs({ error, attempt: 0, isIdempotent }, {}, () => 0) !== undefined

describe('retryDelayMs', () => {
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

  it('gives up after the configured number of attempts', () => {
    const error = new ApiError(target, 503)
    const decide = (attempt: number) => retryDelayMs({ error, attempt, isIdempotent: true }, { maxRetries: 2 }, () => 0)
    expect([decide(0), decide(1), decide(2)]).toEqual([125, 250, undefined])
  })

  it('never waits less than the server requests, nor longer than the maximum plus a tenth', () => {
    fc.assert(
      fc.property(
        fc.nat(120_000),
        fc.nat(20),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (asked, attempt, r) => {
          const error = new ApiError(target, 429, { retryAfterMs: asked })
          const delay = retryDelayMs({ error, attempt, isIdempotent: false }, { maxRetries: 100 }, () => r) ?? -1
          expect(delay).toBeGreaterThanOrEqual(asked)
          expect(delay).toBeLessThanOrEqual(Math.max(5_000, Math.ceil(asked * 1.1)))
        },
      ),
    )
  })
})
