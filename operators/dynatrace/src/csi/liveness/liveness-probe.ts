/** Lets the kubelet probe the driver over HTTP. */
import { createServer, type Server } from 'node:http'
import type { Logger } from '@reeve/runtime'
import { callUnix } from '../grpc/unix-client.ts'
import { waitForDriver } from '../wait-for-driver.ts'
import { readIsReady } from '../wire/csi-messages.ts'

/** Options of {@link runLivenessProbe}. */
export interface LivenessProbeOptions {
  /** The socket of the driver. */
  readonly csiSocket: string
  /** 0 takes a free one. */
  readonly port: number
  /** @default all addresses */
  readonly host?: string
  /** Of one probe, connecting included. */
  readonly timeoutMs: number
  readonly logger: Logger
}

const HEADERS_TIMEOUT_MS = 3_000
const MAX_CONNECTIONS = 64

/**
 * Serves `/healthz` until `signal` aborts. Every request calls the driver over a new connection. The port opens only
 * after the driver has responded once.
 *
 * *Errors*: if the driver responds with an error, or the port is taken.
 */
export async function runLivenessProbe(options: LivenessProbeOptions, signal: AbortSignal): Promise<void> {
  const { csiSocket, port, host, timeoutMs, logger } = options
  if ((await waitForDriver(csiSocket, { logger, signal })) === undefined) return
  const server = createServer((request, response) => {
    if (new URL(request.url ?? '', 'http://local').pathname !== '/healthz') {
      response.writeHead(404).end()
      return
    }
    probe(csiSocket, { timeoutMs, signal }).then(({ status, text }) => {
      if (status !== 200) logger.error({ reason: text }, 'the CSI driver is not healthy')
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
    })
  })
  server.headersTimeout = HEADERS_TIMEOUT_MS
  server.maxConnections = MAX_CONNECTIONS
  await serve(server, { port, ...(host !== undefined && { host }) }, { signal, timeoutMs, logger })
}

async function probe(
  socket: string,
  call: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const isReady = readIsReady(await callUnix(socket, '/csi.v1.Identity/Probe', call))
    return isReady ? { status: 200, text: 'ok' } : { status: 500, text: 'the driver is not ready' }
  } catch (error) {
    return { status: 500, text: error instanceof Error ? error.message : String(error) }
  }
}

async function serve(
  server: Server,
  address: { readonly host?: string; readonly port: number },
  { signal, timeoutMs, logger }: { signal: AbortSignal; timeoutMs: number; logger: Logger },
): Promise<void> {
  const closed = Promise.withResolvers<void>()
  server.on('error', closed.reject)
  server.on('close', closed.resolve)
  const onAbort = () => {
    server.close()
    setTimeout(() => server.closeAllConnections(), timeoutMs).unref()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    server.listen(address, () => {
      logger.info({ address: server.address() }, 'serving /healthz')
      if (signal.aborted) onAbort()
    })
    await closed.promise
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
