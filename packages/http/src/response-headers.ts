/** Reads the headers of responses. */
import type { TransportResponse } from './transport.ts'

type Headers = TransportResponse['headers']

/** The first value of a header. */
export function headerValue(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

/** `Retry-After` in milliseconds: seconds, or a date relative to `nowMs`. An invalid value counts as absent. */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const value = headerValue(headers, 'retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1_000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs)
}
