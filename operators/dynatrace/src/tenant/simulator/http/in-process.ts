/** Responds to requests of clients in the same process, without a socket in between. */
import { type Clock, HttpConnectionError, type OutboundRequest, type OutboundResponse } from '@reeve/http'
import { SERVER_LIMITS } from '../defaults.ts'
import { Call } from './call.ts'
import { isStreamed, type SimulatedResponse } from './response.ts'
import type { CallHandler } from './server.ts'

/** Responds to a request, records it, and cuts the response where a fault rule says so. */
export async function respondInProcess(
  handler: CallHandler,
  request: OutboundRequest,
  clock: Clock,
): Promise<OutboundResponse> {
  const { method, url, headers, body, signal = new AbortController().signal } = request
  signal.throwIfAborted()
  const receivedMs = clock.now()
  const call = new Call(
    {
      method,
      url: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host },
      [Symbol.asyncIterator]: () => once(Buffer.from(body ?? '')),
    },
    SERVER_LIMITS.maxBodyBytes,
  )
  const { response, cutAfterBytes } = await handler.respond(call, signal)
  const isCutAtOnce = cutAfterBytes !== undefined && cutAfterBytes < 0
  const status = isCutAtOnce ? 0 : response.status
  handler.record(call, { receivedMs, durationMs: clock.now() - receivedMs, status, sentBytes: 0 })
  if (isCutAtOnce) throw brokenOff(url, 'request')
  return { status, headers: response.headers, url, body: bodyOf(response, url, cutAfterBytes) }
}

async function* bodyOf(
  { body }: SimulatedResponse,
  url: URL,
  cutAfterBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  const chunks = isStreamed(body) ? body.chunks() : [Buffer.from(body)]
  let sent = 0
  for await (const chunk of chunks) {
    const part = chunk.subarray(0, cutAfterBytes - sent)
    sent += part.length
    if (part.length > 0) yield part
    if (part.length < chunk.length) throw brokenOff(url, 'response')
  }
}

const brokenOff = (url: URL, phase: 'request' | 'response') =>
  new HttpConnectionError(`${url.host}: the connection was closed`, phase)

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
