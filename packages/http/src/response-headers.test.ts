/** Parsing of response headers. */
import { describe, expect, it } from 'vitest'
import { retryAfterMs } from './response-headers.ts'

describe('response headers', () => {
  it('reads Retry-After as seconds or as a date', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    expect(retryAfterMs({ 'retry-after': '7' }, now)).toBe(7_000)
    expect(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, now)).toBe(30_000)
    expect(retryAfterMs({ 'retry-after': 'Wed, 31 Dec 2025 00:00:30 GMT' }, now)).toBe(0)
    expect(retryAfterMs({ 'retry-after': 'soon' }, now)).toBeUndefined()
    expect(retryAfterMs({}, now)).toBeUndefined()
  })
})
