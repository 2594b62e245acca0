/** The standard streams of a command in a container, as channels of a WebSocket or streams of SPDY. */
import { finished } from 'node:stream/promises'
import type { Clock } from '../clock.ts'
import { type ByteChannel, type SpdyStream, serveSpdy } from '../spdy/connection.ts'
import type { WebSocketConnection } from '../web-socket/connection.ts'

/** What a command reads and writes. */
export interface CommandStreams {
  /** The standard input, as soon as the client has closed it or is gone. */
  readonly input: Promise<string>
  /** `error` takes the exit status, as a Status in JSON. */
  write(stream: 'stdout' | 'stderr' | 'error', text: string): Promise<void>
}

/** Subprotocols of a WebSocket, in the order of preference of a client that offers several. */
export const WEB_SOCKET_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
/** The version of the streams of SPDY: from this one on, the exit status is JSON. */
export const SPDY_PROTOCOL = 'v4.channel.k8s.io'

const CHANNELS = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const
/** A command reads at most this much; the rest is dropped. */
const MAX_STDIN_BYTES = 1024 * 1024
/** Time for the client to open its streams after the connection. */
const STREAM_CREATION_MS = 30_000

/** The channels of a WebSocket. */
export function webSocketStreams(connection: WebSocketConnection): CommandStreams {
  return {
    input: readChannels(connection),
    async write(stream, text) {
      if (text !== '') await connection.send(Buffer.concat([Buffer.from([CHANNELS[stream]]), Buffer.from(text)]))
    },
  }
}

/** Reads until the client closes its standard input (`v5`), or the connection. Also answers pings meanwhile. */
function readChannels(connection: WebSocketConnection): Promise<string> {
  const input = new BoundedInput()
  const { promise, resolve } = Promise.withResolvers<string>()
  const finish = () => resolve(input.text)
  const read = async () => {
    for await (const message of connection.messages()) {
      if (message[0] === CHANNELS.close && message[1] === CHANNELS.stdin) finish()
      if (message[0] === CHANNELS.stdin) input.add(message.subarray(1))
    }
  }
  // A lost connection ends the input like a closed one.
  read().then(finish, finish)
  return promise
}

/** What the client requested, and so which streams it opens. */
export interface RequestedStreams {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/**
 * Serves one command by SPDY: waits for the streams that the client requested, runs the command, and ends the
 * connection when it has finished. A client that opens other streams, or not all of them in time, is disconnected.
 */
export async function serveCommandBySpdy(
  channel: ByteChannel,
  requested: RequestedStreams,
  clock: Clock,
  run: (streams: CommandStreams) => Promise<void>,
): Promise<void> {
  const expected = expectedTypes(requested)
  const opened = new Map<string, SpdyStream>()
  const complete = Promise.withResolvers<void>()
  const connection = serveSpdy(channel, (stream) => {
    const type = stream.headers.get('streamtype') ?? ''
    if (!expected.has(type) || opened.has(type)) {
      stream.destroy()
      return
    }
    opened.set(type, stream)
    // An unread stream would block the others.
    if (type !== 'stdin') stream.resume()
    if (opened.size === expected.size) complete.resolve()
  })
  const late = Promise.withResolvers<void>()
  const timer = clock.schedule(STREAM_CREATION_MS, late.resolve)
  try {
    await Promise.race([complete.promise, connection, late.promise])
  } finally {
    timer.cancel()
  }
  if (opened.size < expected.size) return
  await Promise.race([connection, run(spdyStreams(opened)).then(() => endAll(opened.values()))])
}

function expectedTypes(requested: RequestedStreams): ReadonlySet<string> {
  const { stdin, stdout, tty } = requested
  // A terminal has one output; its size arrives on a stream of its own.
  const stderr = requested.stderr && !tty
  const types = Object.entries({ error: true, stdin, stdout, stderr, resize: tty })
  return new Set(types.filter(([, isExpected]) => isExpected).map(([type]) => type))
}

function spdyStreams(opened: ReadonlyMap<string, SpdyStream>): CommandStreams {
  return {
    input: readStream(opened.get('stdin') ?? opened.get('error')),
    async write(type, text) {
      const stream = opened.get(type)
      if (text === '' || stream === undefined || !stream.writable) return
      await new Promise<void>((resolve) => stream.write(text, () => resolve()))
    },
  }
}

/** Resolves when the client ends the stream or loses the connection. Nothing is read of a stream that is flowing already. */
async function readStream(stream: SpdyStream | undefined): Promise<string> {
  const input = new BoundedInput()
  if (stream === undefined) return ''
  await new Promise<void>((resolve) => {
    stream.on('close', resolve)
    if (stream.headers.get('streamtype') !== 'stdin') return
    stream.on('end', resolve)
    stream.on('data', (chunk: Buffer) => input.add(chunk))
  })
  return input.text
}

/** Resolves when the client has been sent everything, or is gone. */
async function endAll(streams: Iterable<SpdyStream>): Promise<void> {
  await Promise.allSettled(
    [...streams].map((stream) => {
      stream.end()
      return finished(stream, { readable: false })
    }),
  )
}

class BoundedInput {
  readonly #chunks: Uint8Array[] = []
  #size = 0

  add(chunk: Uint8Array): void {
    this.#size += chunk.length
    if (this.#size <= MAX_STDIN_BYTES) this.#chunks.push(chunk)
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}
