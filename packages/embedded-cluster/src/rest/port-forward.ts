/**
 * Ports of pods, forwarded to what serves them on this machine. kubectl opens streams of SPDY, on the connection itself or
 * within a WebSocket; other clients use the channels of a WebSocket, two for each port.
 */
import type { Duplex } from 'node:stream'
import { badRequest } from '../api/api-errors.ts'
import { drained } from '../drained.ts'
import { type ByteChannel, type SpdyStream, serveSpdy } from '../spdy/connection.ts'
import type { WebSocketConnection } from '../web-socket/connection.ts'

/** Connects to a port of a pod; `undefined` if nothing serves it. */
export type ConnectPort = (port: number) => Duplex | undefined

/** The subprotocol of a WebSocket that carries SPDY. */
export const TUNNEL_PROTOCOL = 'SPDY/3.1+portforward.k8s.io'
/** The subprotocol with one channel for data and one for errors of each port. */
export const CHANNEL_PROTOCOL = 'v4.channel.k8s.io'
/** More ports in one request are not accepted. */
const MAX_PORTS = 64

/** Forwards by SPDY, as kubectl does: for each connection a stream for errors, then one for data. */
export async function forwardBySpdy(channel: ByteChannel, pod: string, connect: ConnectPort): Promise<void> {
  const errors = new Map<string, SpdyStream>()
  await serveSpdy(channel, (stream) => {
    const { headers } = stream
    const id = headers.get('requestid') ?? headers.get('port') ?? ''
    if (headers.get('streamtype') === 'error') {
      stream.resume()
      stream.on('close', () => errors.delete(id))
      errors.set(id, stream)
      return
    }
    const error = errors.get(id)
    const port = Number(headers.get('port'))
    const target = connect(port)
    if (target === undefined) {
      stream.resume()
      error?.end(nothingListens(pod, port))
      stream.end()
      return
    }
    join(stream, target, (failure) =>
      error?.end(failure === undefined ? undefined : `port ${port}: ${failure.message}`),
    )
  })
}

/** The ports of a request by channels. */
export function requestedPorts(query: URLSearchParams): readonly number[] {
  const ports = query
    .getAll('ports')
    .flatMap((text) => text.split(','))
    .map(Number)
  const isValid = ports.length > 0 && ports.length <= MAX_PORTS && ports.every((port) => isPort(port))
  if (!isValid) throw badRequest('query parameter "ports" must be a list of ports from 1 to 65535')
  return ports
}

/** Forwards one connection for each port by channels of a WebSocket; the first two bytes of a channel are its port. */
export async function forwardByChannels(
  connection: WebSocketConnection,
  pod: string,
  ports: readonly number[],
  connect: ConnectPort,
): Promise<void> {
  const send = (channel: number, data: Uint8Array) => connection.send(Buffer.concat([Buffer.from([channel]), data]))
  const targets = await Promise.all(
    ports.map(async (port, index) => {
      const name = Buffer.from([port & 0xff, port >> 8])
      await send(2 * index, name)
      await send(2 * index + 1, name)
      const target = connect(port)
      if (target === undefined) await send(2 * index + 1, Buffer.from(nothingListens(pod, port)))
      else void copy(target, (data) => send(2 * index, data)).then(() => connection.close())
      return target
    }),
  )
  try {
    for await (const message of connection.messages()) {
      const channel = message[0] ?? 0
      const target = channel % 2 === 0 ? targets[channel / 2] : undefined
      if (target?.writable && !target.write(message.subarray(1))) await drained(target)
    }
  } finally {
    for (const target of targets) target?.destroy()
  }
}

const isPort = (port: number): boolean => Number.isInteger(port) && port > 0 && port < 65_536

const nothingListens = (pod: string, port: number): string =>
  `pod ${pod} is simulated, and nothing serves its port ${port}: name it in the annotation simulator.reeve.dev/http, ` +
  'or resolve it by the option resolvePodPort of the cluster'

/** Copies in both directions until both have ended, or one fails. */
function join(stream: Duplex, target: Duplex, done: (failure: Error | undefined) => void): void {
  let failure: Error | undefined
  target.on('error', (error) => {
    failure = error
  })
  target.on('close', () => {
    done(failure)
    if (failure === undefined) stream.end()
    else stream.destroy()
  })
  stream.on('close', () => target.destroy())
  stream.pipe(target)
  target.pipe(stream)
}

async function copy(source: Duplex, send: (data: Uint8Array) => Promise<void>): Promise<void> {
  try {
    for await (const chunk of source) await send(chunk)
  } catch {
    // The client sees that the connection ends.
  }
}
