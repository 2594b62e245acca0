/** Reads the body of a request, within limits. */
import type { IncomingMessage } from 'node:http'
import { BadReviewError } from './webhook-route.ts'

/** The memory that all bodies in progress share: one connection is harmless, a thousand full ones are not. */
export class BodyBudget {
  readonly #maxBytes: number
  #usedBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Takes a share that grows with the body; disposing of it gives everything back. */
  share(): BodyShare {
    let takenBytes = 0
    return {
      take: (bytes) => {
        if (this.#usedBytes + bytes > this.#maxBytes) {
          throw new BadReviewError(503, 'too many large requests, retry later')
        }
        this.#usedBytes += bytes
        takenBytes += bytes
      },
      [Symbol.dispose]: () => {
        this.#usedBytes -= takenBytes
        takenBytes = 0
      },
    }
  }
}

/** What one body takes of a {@link BodyBudget}. */
export interface BodyShare extends Disposable {
  /** Throws {@link BadReviewError} 503 when nothing is left. */
  take(bytes: number): void
}

/**
 * The bytes of a request body.
 *
 * *Errors*: {@link BadReviewError} 413 as soon as the body is known to be larger than `maxBytes`, 503 when its `share` of
 * the memory is used up, 400 when it breaks off.
 */
export function readBody(request: IncomingMessage, maxBytes: number, share: BodyShare): Promise<Uint8Array> {
  const tooLarge = () => new BadReviewError(413, `the body is larger than ${maxBytes} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge())
  const chunks: Buffer[] = []
  let size = 0
  // By events: an asynchronous iterator takes longer than parsing a usual review.
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      request.off('data', onData).pause()
      reject(error)
    }
    const onData = (chunk: Buffer) => {
      try {
        size += chunk.length
        if (size > maxBytes) throw tooLarge()
        share.take(chunk.length)
        chunks.push(chunk)
      } catch (error) {
        fail(error)
      }
    }
    const breaksOff = () => {
      if (!request.readableEnded) fail(new BadReviewError(400, 'the body is incomplete'))
    }
    request.on('data', onData)
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)))
    request.once('error', breaksOff)
    request.once('close', breaksOff)
  })
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
