/** The client side of a WebSocket (RFC 6455) on an upgraded connection. Just what the streams of pods need. */
import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'

/** Constant of the protocol, by which a server proves that it read the client's key. */
const HANDSHAKE_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** The server broke the protocol; the message says how. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError'
}

/** The headers of a handshake; the random key of the first is proved by the value of the second. */
export function handshake(protocols: readonly string[]): {
  readonly headers: Readonly<Record<string, string>>
  readonly accept: string
} {
  const key = randomBytes(16).toString('base64')
  return {
    headers: {
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      'sec-websocket-protocol': protocols.join(', '),
    },
    accept: createHash('sha1').update(`${key}${HANDSHAKE_SUFFIX}`).digest('base64'),
  }
}

interface Frame {
  readonly opcode: number
  readonly isFinal: boolean
  readonly payload: Buffer
}

/** One connection after its handshake. */
export class WebSocketClient {
  readonly #stream: Duplex
  readonly #maxMessageBytes: number
  #pending: Buffer = Buffer.alloc(0)

  constructor(stream: Duplex, maxMessageBytes: number) {
    this.#stream = stream
    this.#maxMessageBytes = maxMessageBytes
  }

  /**
   * The messages of the server, until it closes the connection.
   *
   * *Errors*: {@link WebSocketError} for invalid or too large messages, and when the connection ends without a close.
   */
  async *messages(): AsyncGenerator<Buffer, void, undefined> {
    const parts: Buffer[] = []
    let size = 0
    for await (const chunk of this.#stream) {
      this.#pending = Buffer.concat([this.#pending, chunk])
      for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
        if (frame.opcode === OPCODES.close) {
          this.#write(OPCODES.close, frame.payload.subarray(0, 2))
          return
        }
        if (frame.opcode === OPCODES.ping) this.#write(OPCODES.pong, frame.payload)
        if (frame.opcode >= OPCODES.close) continue
        parts.push(frame.payload)
        size += frame.payload.length
        if (size > this.#maxMessageBytes) throw new WebSocketError(`a message exceeds ${this.#maxMessageBytes} bytes`)
        if (!frame.isFinal) continue
        yield Buffer.concat(parts.splice(0), size)
        size = 0
      }
    }
    throw new WebSocketError('the connection ended before the server closed it')
  }

  /** Sends a binary message. */
  send(message: Uint8Array): void {
    this.#write(OPCODES.binary, message)
  }

  /** Drops the connection. */
  destroy(): void {
    this.#stream.destroy()
  }

  #next(): Frame | undefined {
    const bytes = this.#pending
    if (bytes.length < 2) return undefined
    const first = bytes.readUInt8(0)
    const second = bytes.readUInt8(1)
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0) throw new WebSocketError('a frame has invalid flags')
    const lengthBytes = second === 126 ? 2 : second === 127 ? 8 : 0
    const start = 2 + lengthBytes
    if (bytes.length < start) return undefined
    const length =
      lengthBytes === 0 ? second : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    if (length > this.#maxMessageBytes) throw new WebSocketError(`a message exceeds ${this.#maxMessageBytes} bytes`)
    if (bytes.length < start + length) return undefined
    this.#pending = bytes.subarray(start + length)
    return { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, payload: bytes.subarray(start, start + length) }
  }

  #write(opcode: number, payload: Uint8Array): void {
    if (!this.#stream.writable) return
    const { length } = payload
    const size = length < 126 ? 0 : length < 65_536 ? 2 : 8
    const header = Buffer.alloc(2 + size)
    header.writeUInt8(0x80 | opcode, 0)
    header.writeUInt8(0x80 | (size === 0 ? length : size === 2 ? 126 : 127), 1)
    if (size === 2) header.writeUInt16BE(length, 2)
    if (size === 8) header.writeBigUInt64BE(BigInt(length), 2)
    const mask = randomBytes(4)
    const masked = Buffer.from(payload)
    for (let index = 0; index < length; index += 1) masked[index] = (masked[index] ?? 0) ^ (mask[index % 4] ?? 0)
    this.#stream.write(Buffer.concat([header, mask, masked]))
  }
}
