/** Frames of SPDY/3.1, as far as port forwarding uses them. */

/** A larger frame ends the connection: clients send 32 KiB at most. */
const MAX_FRAME_BYTES = 1024 * 1024
const HEADER_BYTES = 8
const VERSION = 3
const FIN = 1

/** Types of control frames. */
export const FRAME = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7, headers: 8 } as const

/** Why a stream is reset. */
export const RESET = { protocolError: 1, invalidStream: 2, refused: 3, cancel: 5 } as const

/** A frame of the peer. `type` is that of a control frame; a data frame has none. */
export interface Frame {
  readonly type: number | undefined
  /** 0 for frames that are not about a stream. */
  readonly streamId: number
  /** Whether the peer sends nothing more on the stream. */
  readonly isLast: boolean
  readonly payload: Buffer
}

/** Cuts a sequence of bytes into frames. *Errors*: for frames that are too large or of another version. */
export class FrameReader {
  #pending: Buffer = Buffer.alloc(0)

  read(chunk: Uint8Array): readonly Frame[] {
    this.#pending = Buffer.concat([this.#pending, chunk])
    const frames: Frame[] = []
    while (this.#pending.length >= HEADER_BYTES) {
      const length = this.#pending.readUIntBE(5, 3)
      if (length > MAX_FRAME_BYTES) throw new Error('the frame is too large')
      if (this.#pending.length < HEADER_BYTES + length) break
      frames.push(decode(this.#pending.subarray(0, HEADER_BYTES + length)))
      this.#pending = this.#pending.subarray(HEADER_BYTES + length)
    }
    return frames
  }
}

function decode(bytes: Buffer): Frame {
  const isControl = (bytes.readUInt8(0) & 0x80) !== 0
  const isLast = (bytes.readUInt8(4) & FIN) !== 0
  const payload = bytes.subarray(HEADER_BYTES)
  if (!isControl) return { type: undefined, streamId: bytes.readUInt32BE(0), isLast, payload }
  if ((bytes.readUInt16BE(0) & 0x7fff) !== VERSION) throw new Error('the frame is not one of SPDY/3')
  const type = bytes.readUInt16BE(2)
  const isOfStream = type === FRAME.synStream || type === FRAME.rstStream || type === FRAME.headers
  return { type, streamId: isOfStream ? payload.readUInt32BE(0) & 0x7fffffff : 0, isLast, payload }
}

/** Data of a stream, possibly the last. */
export function dataFrame(streamId: number, data: Uint8Array, isLast: boolean): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32BE(streamId)
  header.writeUInt8(isLast ? FIN : 0, 4)
  header.writeUIntBE(data.length, 5, 3)
  return Buffer.concat([header, data])
}

/** A control frame without flags. */
export function controlFrame(type: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(0x8000 | VERSION)
  header.writeUInt16BE(type, 2)
  header.writeUIntBE(payload.length, 5, 3)
  return Buffer.concat([header, payload])
}

/** Numbers of 32 bits. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value, index * 4)
  })
  return bytes
}
