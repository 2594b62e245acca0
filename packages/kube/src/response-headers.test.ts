/** Parsing of response headers. */
import { describe, expect, it } from 'vitest'
import { retryAfterMs, warningTexts } from './response-headers.ts'

describe('response headers', () => {
  it('reads Retry-After as seconds or as a date', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    expect(retryAfterMs({ 'retry-after': '7' }, now)).toBe(7_000)
    expect(retryAfterMs({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, now)).toBe(30_000)
    expect(retryAfterMs({ 'retry-after': 'Wed, 31 Dec 2025 00:00:30 GMT' }, now)).toBe(0)
    expect(retryAfterMs({ 'retry-after': 'soon' }, now)).toBeUndefined()
    expect(retryAfterMs({}, now)).toBeUndefined()
  })

  it('reads warnings from repeated headers, joined headers and with escaped quotes', () => {
    expect(warningTexts({ warning: ['299 - "v1beta1 is deprecated"', '299 - "unknown field \\"spec.x\\""'] })).toEqual([
      'v1beta1 is deprecated',
      'unknown field "spec.x"',
    ])
    expect(warningTexts({ warning: '299 - "a, b", 299 - "c"' })).toEqual(['a, b', 'c'])
    expect(warningTexts({ warning: '110 - "stale"' })).toEqual([])
    expect(warningTexts({})).toEqual([])
  })
})
