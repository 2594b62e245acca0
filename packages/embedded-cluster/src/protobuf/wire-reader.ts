/** Reads the wire format of protobuf: tags, varints, fixed numbers and length-delimited bytes. */

/** A message that ends too early or uses what Kubernetes never writes. */
export class MalformedProtobuf extends Error {
  readonly code = 'MALFORMED_PROTOBUF'

  constructor(what: string) {
    super(`malformed protobuf: ${what}`)
    this.name = 'MalformedProtobuf'
  }
}

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

  /** Field number and wire type of what follows. */
  tag(): { readonly field: number; readonly type: number } {
    const value = Number(this.varint())
    return { field: value >>> 3, type: value & 7 }
  }

  /** An unsigned number of up to 64 bits. */
  varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#position]
      if (byte === undefined) throw new MalformedProtobuf('a number is cut off')
      this.#position += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new MalformedProtobuf('a number is longer than 64 bits')
  }

  /** A signed number of up to 64 bits. */
  integer(): number {
    return Number(BigInt.asIntN(64, this.varint()))
  }

  /** A 64-bit floating point number. */
  double(): number {
    const bytes = this.#take(8)
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true)
  }

  /** A 32-bit floating point number. */
  float(): number {
    const bytes = this.#take(4)
    return new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0, true)
  }

  /** Bytes with their length in front: a string, a message or just bytes. */
  bytes(): Uint8Array {
    return this.#take(Number(this.varint()))
  }

  /** Passes over a field that is not known. */
  skip(type: number): void {
    if (type === 0) this.varint()
    else if (type === 1) this.#take(8)
    else if (type === 2) this.bytes()
    else if (type === 5) this.#take(4)
    else throw new MalformedProtobuf(`wire type ${type} is not supported`)
  }

  #take(length: number): Uint8Array {
    const end = this.#position + length
    if (end > this.#bytes.length) throw new MalformedProtobuf('a field is longer than its message')
    const taken = this.#bytes.subarray(this.#position, end)
    this.#position = end
    return taken
  }
}
