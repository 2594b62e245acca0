/** The server side of a WebSocket (RFC 6455) on any duplex stream: messages in, messages out, pings and closing. */
import type { Duplex } from 'node:stream'
import { drained } from '../drained.ts'

/** A larger message ends the connection: clients of exec send keystrokes and files in small pieces. */
const MAX_MESSAGE_BYTES = 1024 * 1024

const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const CLOSE_NORMAL = 1000
const CLOSE_PROTOCOL_ERROR = 1002
const CLOSE_TOO_BIG = 1009

interface Frame {
  readonly opcode: number
  readonly isFinal: boolean
  readonly payload: Buffer
}

/**
 * One connection after its handshake.
 *
 * @example
 * for await (const message of socket.messages()) await socket.send(message)
 * await socket.close()
 */
export class WebSocketConnection {
  readonly #stream: Duplex
  #pending: Buffer = Buffer.alloc(0)
  #isClosed = false

  constructor(stream: Duplex) {
    this.#stream = stream
    // The loop of the reader ends as well; there is nothing else to do about a lost connection.
    stream.on('error', () => undefined)
  }

  /** The messages of the client, until it closes the connection or breaks the protocol. */
  async *messages(): AsyncGenerator<Buffer, void, undefined> {
    let parts: Buffer[] = []
    let size = 0
    for await (const chunk of this.#stream) {
      this.#pending = Buffer.concat([this.#pending, chunk])
      for (let frame = this.#next(); frame !== undefined; frame = this.#next()) {
        if (frame === 'invalid') return this.#end(CLOSE_PROTOCOL_ERROR)
        if (frame === 'too big') return this.#end(CLOSE_TOO_BIG)
        if (frame.opcode === OPCODES.close) return this.#end(CLOSE_NORMAL)
        if (frame.opcode === OPCODES.ping) this.#write(OPCODES.pong, frame.payload)
        if (frame.opcode >= OPCODES.close) continue
        parts.push(frame.payload)
        size += frame.payload.length
        if (size > MAX_MESSAGE_BYTES) return this.#end(CLOSE_TOO_BIG)
        if (!frame.isFinal) continue
        yield Buffer.concat(parts)
        parts = []
        size = 0
      }
    }
  }

  /** Sends a binary message; resolves when the client can take more. */
  async send(message: Uint8Array): Promise<void> {
    if (this.#isClosed || !this.#stream.writable) return
    if (!this.#write(OPCODES.binary, message)) await drained(this.#stream)
  }

  /** Ends the connection in order. */
  close(): void {
    this.#end(CLOSE_NORMAL)
  }

  #end(code: number): void {
    if (this.#isClosed) return
    const payload = Buffer.alloc(2)
    payload.writeUInt16BE(code)
    if (this.#stream.writable) this.#write(OPCODES.close, payload)
    this.#isClosed = true
    this.#stream.end()
  }

  /** The next complete frame in the buffer. Clients must mask what they send. */
  #next(): Frame | 'invalid' | 'too big' | undefined {
    const bytes = this.#pending
    if (bytes.length < 2) return undefined
    const first = bytes.readUInt8(0)
    const second = bytes.readUInt8(1)
    const short = second & 0x7f
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    const isMasked = (second & 0x80) !== 0
    if (!isMasked || (first & 0x70) !== 0) return 'invalid'
    const start = 2 + lengthBytes + 4
    if (bytes.length < start) return undefined
    const length =
      lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    if (length > MAX_MESSAGE_BYTES) return 'too big'
    if (bytes.length < start + length) return undefined
    const mask = bytes.subarray(start - 4, start)
    const payload = Buffer.from(bytes.subarray(start, start + length))
    for (let index = 0; index < payload.length; index += 1)
      payload[index] = (payload[index] ?? 0) ^ (mask[index % 4] ?? 0)
    this.#pending = bytes.subarray(start + length)
    return { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, payload }
  }

  #write(opcode: number, payload: Uint8Array): boolean {
    const { length } = payload
    const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
    header.writeUInt8(0x80 | opcode, 0)
    if (length < 126) header.writeUInt8(length, 1)
    else if (length < 65_536) {
      header.writeUInt8(126, 1)
      header.writeUInt16BE(length, 2)
    } else {
      header.writeUInt8(127, 1)
      header.writeBigUInt64BE(BigInt(length), 2)
    }
    return this.#stream.write(Buffer.concat([header, payload]))
  }
}
