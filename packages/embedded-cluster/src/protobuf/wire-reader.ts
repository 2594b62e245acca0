/** Reads the protobuf wire format: tags, varints, fixed numbers and length-delimited bytes. */

/** A body that is not valid protobuf of a known kind; the message has the API server's wording where it has one. */
export class MalformedProtobuf extends Error {
  readonly code = 'MALFORMED_PROTOBUF'

  constructor(what: string) {
    super(what)
    this.name = 'MalformedProtobuf'
  }
}

/** The encoding of a value. */
export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const

const MAX_VARINT_BYTES = 10
/** Groups are deprecated and not used by clients; they are skipped, up to a limited depth. */
const MAX_GROUP_DEPTH = 16

/** A position in a buffer. All methods throw {@link MalformedProtobuf} instead of reading past the end. */
export class WireReader {
  readonly #bytes: Uint8Array
  #position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#bytes.length
  }

  /** Field number and wire type of the next field. */
  tag(): { readonly field: number; readonly type: number } {
    const value = this.#unsigned()
    const field = Math.floor(value / 8)
    if (field === 0 || field >= 2 ** 29)
      throw new MalformedProtobuf(`proto: illegal tag ${field} (wire type ${value % 8})`)
    return { field, type: value % 8 }
  }

  /** A signed number of up to 64 bits. */
  integer(): number {
    const start = this.#position
    const value = this.#unsigned()
    // Small numbers are exact; negative ones fill all bits and need exact arithmetic.
    if (value <= Number.MAX_SAFE_INTEGER) return value
    this.#position = start
    return Number(BigInt.asIntN(64, this.#unsigned64()))
  }

  bool(): boolean {
    return this.#unsigned() !== 0
  }

  /** A 64-bit floating point number. */
  double(): number {
    const bytes = this.#take(8)
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true)
  }

  /** Length-delimited bytes: a string, a message or plain bytes. */
  bytes(): Uint8Array {
    return this.#take(this.#unsigned())
  }

  /** Skips an unknown value. */
  skip(type: number, depth = 0): void {
    switch (type) {
      case wireTypes.varint:
        this.#unsigned()
        return
      case wireTypes.fixed64:
        this.#take(8)
        return
      case wireTypes.bytes:
        this.bytes()
        return
      case wireTypes.fixed32:
        this.#take(4)
        return
      case wireTypes.startGroup:
        this.#skipGroup(depth + 1)
        return
      default:
        throw new MalformedProtobuf(`proto: illegal wireType ${type}`)
    }
  }

  #skipGroup(depth: number): void {
    if (depth > MAX_GROUP_DEPTH) throw new MalformedProtobuf('proto: groups are nested too deep')
    for (;;) {
      const { type } = this.tag()
      if (type === wireTypes.endGroup) return
      this.skip(type, depth)
    }
  }

  /** An unsigned number; beyond 53 bits only its magnitude is right. */
  #unsigned(): number {
    let value = 0
    let scale = 1
    for (let count = 0; count < MAX_VARINT_BYTES; count += 1) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
      scale *= 128
    }
    throw new MalformedProtobuf('proto: integer overflow')
  }

  #unsigned64(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  #byte(): number {
    const byte = this.#bytes[this.#position]
    if (byte === undefined) throw new MalformedProtobuf('unexpected EOF')
    this.#position += 1
    return byte
  }

  #take(length: number): Uint8Array {
    const end = this.#position + length
    if (end > this.#bytes.length) throw new MalformedProtobuf('unexpected EOF')
    const taken = this.#bytes.subarray(this.#position, end)
    this.#position = end
    return taken
  }
}
