/** Live updates for one browser, as server-sent events: collected for a moment, bounded when it does not read. */
import type { ServerResponse } from 'node:http'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { StreamMessage } from '../wire.ts'
import { SECURITY_HEADERS } from './response.ts'

/** Between two signs of life, so that proxies keep the connection. */
const HEARTBEAT_MS = 15_000

/** What a stream needs. */
export interface EventStreamOptions {
  /** Subscribes to messages; returns the function that ends it. */
  readonly listen: (listener: (message: StreamMessage) => void) => () => void
  /** Whether the session is still valid; checked from time to time. */
  readonly isAllowed: () => Promise<boolean>
  readonly signal: AbortSignal
}

/**
 * Sends messages until the browser leaves, its session ends or `signal` aborts.
 *
 * *Guarantees*: at most a bounded number of messages wait for a slow browser. When there are more, they are dropped and it
 * gets an event that makes it reload everything.
 */
export async function streamEvents(response: ServerResponse, options: EventStreamOptions): Promise<void> {
  const { listen, isAllowed, signal } = options
  const ended = Promise.withResolvers<void>()
  let waiting: StreamMessage[] = []
  let isDraining = false
  const flush = () => {
    if (waiting.length === 0 || isDraining) return
    const text = waiting.map((message) => JSON.stringify(message)).join(',')
    waiting = []
    isDraining = !response.write(`data: [${text}]\n\n`)
  }
  const stop = listen((message) => {
    if (waiting.length >= CONSOLE_LIMITS.streamBacklog) waiting = [{ type: 'overflow' }]
    waiting.push(message)
  })
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'cache-control': 'no-store',
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  })
  response.write(': welcome\n\n')
  const flushing = setInterval(flush, CONSOLE_LIMITS.streamFlushMs)
  const beating = setInterval(() => {
    if (!isDraining) response.write(': alive\n\n')
  }, HEARTBEAT_MS)
  const checking = setInterval(() => {
    isAllowed().then(
      (isValid) => isValid || ended.resolve(),
      () => ended.resolve(),
    )
  }, CONSOLE_LIMITS.sessionCheckMs)
  response.on('drain', () => {
    isDraining = false
  })
  response.on('close', ended.resolve)
  signal.addEventListener('abort', () => ended.resolve(), { once: true })
  if (signal.aborted) ended.resolve()
  await ended.promise
  stop()
  for (const timer of [flushing, beating, checking]) clearInterval(timer)
  response.end()
}
