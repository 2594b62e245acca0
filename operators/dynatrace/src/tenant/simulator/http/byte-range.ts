/** Downloads that can be resumed and need not be repeated: Range, If-Range and If-None-Match. */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../refusal.ts'
import { type ByteSource, empty, type SimulatedResponse } from './response.ts'

/** A part of a download: from `start` up to, not including, `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * The part that a `Range` header requests. Undefined when everything is to be sent, as for several ranges or a
 * header that makes no sense; `unsatisfiable` when the part lies outside.
 *
 * @example
 * parseRange('bytes=100-', 250) // { start: 100, end: 250 }
 */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes)
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes }
  }
  const start = Number(first)
  const end = last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes)
  if (last !== '' && Number(last) < start) return undefined
  return start >= sizeBytes ? 'unsatisfiable' : { start, end }
}

/** Whether one of the entity tags of a header is `etag`; a weak one of the same name counts. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag)
}

/** The response to a download of `source`: 200, 206, 304 or 416. */
export function downloadResponse(
  requestHeaders: IncomingHttpHeaders,
  source: ByteSource,
  facts: { readonly etag: string; readonly contentType: string; readonly headers?: Readonly<Record<string, string>> },
): SimulatedResponse {
  const { etag } = facts
  const headers = { etag, 'accept-ranges': 'bytes', 'content-type': facts.contentType, ...facts.headers }
  if (matchesEtag(requestHeaders['if-none-match'], etag)) return empty(304, { etag })
  const ifRange = requestHeaders['if-range']
  const wantsPart = ifRange === undefined || ifRange === etag
  const range = wantsPart ? parseRange(requestHeaders.range, source.sizeBytes) : undefined
  if (range === 'unsatisfiable') {
    throw new Refusal(416, 'The requested range is not satisfiable.', {
      headers: { 'content-range': `bytes */${source.sizeBytes}` },
    })
  }
  if (range === undefined) {
    const { sizeBytes } = source
    return { status: 200, headers, body: { sizeBytes, chunks: () => source.read(0, sizeBytes) } }
  }
  const { start, end } = range
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${start}-${end - 1}/${source.sizeBytes}` },
    body: { sizeBytes: end - start, chunks: () => source.read(start, end) },
  }
}
