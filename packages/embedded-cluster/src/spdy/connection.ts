/** The server side of SPDY/3.1: streams that the client opens on one connection. kubectl forwards ports this way. */
import { Duplex } from 'node:stream'
import { controlFrame, dataFrame, FRAME, type Frame, FrameReader, RESET, words } from './frames.ts'
import { HeaderReader, type Headers, HeaderWriter } from './header-blocks.ts'

/** Both directions of a connection: a socket, or messages of a WebSocket one after the other. */
export interface ByteChannel {
  readonly chunks: AsyncIterable<Uint8Array>
  /** Resolves when more can be sent. */
  send(bytes: Uint8Array): Promise<void>
}

/** Streams of one connection at a time; more are refused. */
const MAX_STREAMS = 1_000
/** Frames are no larger, so that streams take turns. */
const MAX_DATA_BYTES = 16 * 1024

/** A stream that the client opened. It must be read: an unread one blocks the connection. */
export class SpdyStream extends Duplex {
  readonly headers: Headers
  readonly #send: (data: Uint8Array, isLast: boolean) => Promise<void>
  readonly #reset: () => void
  #onRead: (() => void) | undefined

  constructor(headers: Headers, send: (data: Uint8Array, isLast: boolean) => Promise<void>, reset: () => void) {
    super({ autoDestroy: true })
    this.headers = headers
    this.#send = send
    this.#reset = reset
    // The other end of what is forwarded fails; there is nothing to report here.
    this.on('error', () => undefined)
  }

  /** Takes data of the client; resolves when there is room for more. */
  async deliver(data: Uint8Array): Promise<void> {
    if (this.destroyed || this.readableEnded || data.length === 0 || this.push(data)) return
    await new Promise<void>((resolve) => {
      this.#onRead = resolve
      this.once('close', resolve)
    })
  }

  override _read(): void {
    this.#onRead?.()
    this.#onRead = undefined
  }

  override _write(chunk: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    const send = async () => {
      for (let start = 0; start < chunk.length; start += MAX_DATA_BYTES) {
        await this.#send(chunk.subarray(start, start + MAX_DATA_BYTES), false)
      }
    }
    send().then(() => done(), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#send(Buffer.alloc(0), true).then(() => done(), done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.writableFinished) this.#reset()
    done(error)
  }
}

/**
 * Serves a connection until the client ends it or breaks the protocol.
 *
 * @example
 * await serveSpdy(channel, (stream) => stream.pipe(stream))
 */
export async function serveSpdy(channel: ByteChannel, onStream: (stream: SpdyStream) => void): Promise<void> {
  const reader = new HeaderReader()
  const writer = new HeaderWriter()
  const streams = new Map<number, SpdyStream>()
  const send = (frame: Buffer) => channel.send(frame)
  const reset = (streamId: number, reason: number) => send(controlFrame(FRAME.rstStream, words(streamId, reason)))
  const open = async ({ streamId, isLast, payload }: Frame) => {
    const headers = await reader.read(payload.subarray(10))
    if (streams.has(streamId) || streams.size >= MAX_STREAMS) return reset(streamId, RESET.refused)
    const stream = new SpdyStream(
      headers,
      (data, isEnd) => send(dataFrame(streamId, data, isEnd)),
      // A lost connection needs no reset.
      () => void reset(streamId, RESET.cancel).catch(() => undefined),
    )
    streams.set(streamId, stream)
    stream.on('close', () => streams.delete(streamId))
    await send(controlFrame(FRAME.synReply, Buffer.concat([words(streamId), await writer.empty()])))
    if (isLast) stream.push(null)
    onStream(stream)
  }
  const take = async (frame: Frame): Promise<void> => {
    const stream = streams.get(frame.streamId)
    switch (frame.type) {
      case undefined:
        // Data may still be on its way after this end closed the stream.
        await stream?.deliver(frame.payload)
        if (frame.isLast) stream?.push(null)
        return
      case FRAME.synStream:
        return open(frame)
      case FRAME.rstStream:
        return void stream?.destroy()
      case FRAME.headers:
        // Not used, but part of the compression.
        return void (await reader.read(frame.payload.subarray(4)))
      case FRAME.ping:
        return send(controlFrame(FRAME.ping, frame.payload))
    }
  }
  try {
    const frames = new FrameReader()
    for await (const chunk of channel.chunks) for (const frame of frames.read(chunk)) await take(frame)
  } finally {
    for (const stream of streams.values()) stream.destroy()
    reader.close()
    writer.close()
  }
}
