/** Writes a response to a socket, with backpressure. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { isStreamed, type SimulatedResponse } from './response.ts'

/** Statuses that never have a body. */
const BODILESS = new Set([204, 304])

/**
 * Writes headers and body; returns how many bytes of the body were written.
 *
 * *Guarantees*: of a streamed body only the chunk being written is in memory. When the client disconnects, writing stops.
 *
 * @param cutAfterBytes closes the connection after this many bytes of the body; below 0 before the headers
 */
export async function writeResponse(
  response: ServerResponse,
  simulated: SimulatedResponse,
  options: { readonly isHead: boolean; readonly signal: AbortSignal; readonly cutAfterBytes?: number | undefined },
): Promise<number> {
  const { isHead, signal, cutAfterBytes = Number.POSITIVE_INFINITY } = options
  const { status, headers, body } = simulated
  if (cutAfterBytes < 0) {
    response.destroy()
    return 0
  }
  const bytes = isStreamed(body) ? undefined : Buffer.from(body)
  const sizeBytes = isStreamed(body) ? body.sizeBytes : Buffer.byteLength(body)
  response.writeHead(status, { ...headers, ...(!BODILESS.has(status) && { 'content-length': String(sizeBytes) }) })
  if (isHead || BODILESS.has(status)) {
    response.end()
    return 0
  }
  const chunks = isStreamed(body) ? body.chunks() : [bytes ?? Buffer.alloc(0)]
  let written = 0
  for await (const chunk of chunks) {
    if (signal.aborted) return written
    const part = chunk.subarray(0, Math.max(0, cutAfterBytes - written))
    written += part.length
    // Waiting for the drain is what keeps a slow reader from filling our memory.
    if (!response.write(part)) await once(response, 'drain', { signal }).catch(() => undefined)
    if (part.length < chunk.length) {
      // The client is to see the bytes before the cut, so they leave first.
      await flushed(response, signal)
      response.destroy()
      return written
    }
  }
  response.end()
  return written
}

function flushed(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
    response.write(Buffer.alloc(0), () => resolve())
  })
}
