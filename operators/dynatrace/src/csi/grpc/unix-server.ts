/** Serves gRPC calls on a Unix socket. */
import { chmod, rm } from 'node:fs/promises'
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js'
import type { Logger } from '@reeve/runtime'
import { STATUS, StatusError } from './status-error.ts'

/** One method: bytes in, bytes out. *Errors*: {@link StatusError}; any other becomes `UNKNOWN`. */
export type Method = (request: Uint8Array) => Promise<Uint8Array>

/** Methods by name, by the full name of their service. */
export type Services = Readonly<Record<string, Readonly<Record<string, Method>>>>

/** Enough for calls of a few kilobytes; the default would accept 4 MiB. */
const MAX_MESSAGE_BYTES = 256 * 1024
/** How long calls may take after the server was asked to stop. */
const STOP_TIMEOUT_MS = 20_000

const asBytes = (bytes: Uint8Array): Buffer => Buffer.from(bytes)

/** Options of {@link serveUnix}. */
export interface ServeOptions {
  readonly signal: AbortSignal
  readonly logger: Logger
  /** Permissions of the socket. @default those that the umask leaves */
  readonly socketMode?: number
}

/**
 * Serves until `signal` aborts, then waits for calls in progress and removes the socket. A socket file that a killed
 * process left is replaced.
 *
 * *Errors*: if the socket cannot be made.
 *
 * @example
 * await serveUnix('/csi/csi.sock', { 'csi.v1.Identity': identity }, { signal, logger })
 */
export async function serveUnix(
  path: string,
  services: Services,
  { signal, logger, socketMode }: ServeOptions,
): Promise<void> {
  const server = new Server({
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    // Channel diagnostics grow with connections, and nothing reads them.
    'grpc.enable_channelz': 0,
  })
  for (const [service, methods] of Object.entries(services)) addService(server, service, methods, logger)
  await rm(path, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()))
  })
  if (socketMode !== undefined) await chmod(path, socketMode)
  logger.info({ socket: path }, 'serving gRPC')
  if (!signal.aborted) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  }
  await stopped(server)
  await rm(path, { force: true })
}

function addService(server: Server, service: string, methods: Services[string], logger: Logger): void {
  const definitions = Object.keys(methods).map((name) => [
    name,
    {
      path: `/${service}/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: asBytes,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: asBytes,
      responseDeserialize: (bytes: Buffer) => bytes,
    } as const,
  ])
  const handlers = Object.entries(methods).map(([name, method]) => [name, handlerOf(name, method, logger)])
  server.addService(Object.fromEntries(definitions), Object.fromEntries(handlers))
}

function handlerOf(name: string, method: Method, logger: Logger) {
  return ({ request }: ServerUnaryCall<Buffer, Uint8Array>, respond: sendUnaryData<Uint8Array>): void => {
    method(request).then(
      (response) => respond(null, response),
      (error: unknown) => {
        logger.info({ method: name, err: error }, 'call failed')
        const code = error instanceof StatusError ? error.code : STATUS.unknown
        respond({ code, details: error instanceof Error ? error.message : String(error) })
      },
    )
  }
}

async function stopped(server: Server): Promise<void> {
  const force = setTimeout(() => server.forceShutdown(), STOP_TIMEOUT_MS)
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
  clearTimeout(force)
}
