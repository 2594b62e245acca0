/** Reads the warnings of an API server. */
import type { TransportResponse } from '@reeve/http'

/**
 * The texts of `Warning` headers with code 299, which the server uses for deprecated versions, unknown fields and
 * warnings of admission webhooks. Several warnings may share one header line.
 */
export function warningTexts(headers: TransportResponse['headers']): string[] {
  const value = headers.warning
  if (value === undefined) return []
  const lines = typeof value === 'string' ? [value] : value
  return lines.flatMap((line) =>
    [...line.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => (match[1] ?? '').replace(/\\(.)/g, '$1')),
  )
}
