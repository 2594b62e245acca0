/** Reads the body of a request, within limits. */
import type { IncomingMessage } from 'node:http'
import { BadReviewError } from './webhook-route.ts'

/**
 * The JSON of a request body.
 *
 * *Errors*: {@link BadReviewError} 413 as soon as the body is known to be larger than `maxBytes`, 400 when it is no JSON
 * or breaks off.
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const tooLarge = () => new BadReviewError(413, `the body is larger than ${maxBytes} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof BadReviewError ? error : new BadReviewError(400, 'the body broke off')
  }
  try {
    return JSON.parse(Buffer.concat(chunks, size).toString('utf8'))
  } catch {
    // The parser's message quotes the body, which may hold secrets.
    throw new BadReviewError(400, 'the body is no JSON')
  }
}

/**
 * Milliseconds of a duration as the API server writes it into the query: `10s`, `1m30s`, `500ms`. Undefined for
 * anything else.
 *
 * @example
 * parseDuration('1m30s') // 90_000
 */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(h|m|s|ms))+$/.test(text)) return undefined
  let totalMs = 0
  for (const [, number, unit] of text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)) {
    totalMs += Number(number) * (UNIT_MS[unit ?? ''] ?? 0)
  }
  return totalMs
}

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }
