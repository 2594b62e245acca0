/** Calls a gRPC server on a Unix socket. */
import { Client, credentials, status } from '@grpc/grpc-js'

/** Options of {@link callUnix}. */
export interface CallOptions {
  /** The whole call, the connection included. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** @default an empty message */
  readonly request?: Uint8Array
}

/**
 * Makes one call over a new connection and returns the bytes of the response.
 *
 * *Errors*: those of the call, with the `code` of gRPC; the reason of the signal.
 *
 * @example
 * const response = await callUnix('/csi/csi.sock', '/csi.v1.Identity/Probe', { timeoutMs: 9_000, signal })
 */
export async function callUnix(
  socket: string,
  method: string,
  { timeoutMs, signal, request = new Uint8Array() }: CallOptions,
): Promise<Uint8Array> {
  signal.throwIfAborted()
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), { 'grpc.enable_channelz': 0 })
  const deadline = Date.now() + timeoutMs
  const asIs = (bytes: Buffer) => bytes
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const call = client.makeUnaryRequest(method, asIs, asIs, Buffer.from(request), { deadline }, (error, response) => {
    if (error) reject(error)
    else resolve(response ?? new Uint8Array())
  })
  const onAbort = () => {
    reject(signal.reason)
    call.cancel()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', onAbort)
    client.close()
  }
}

/** Whether a call failed because nothing listens yet. */
export function isUnavailable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED
}
