/** Encodes protobuf, for tests of the decoder. */

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  do {
    const byte = Number(rest & 0x7fn)
    rest >>= 7n
    bytes.push(rest === 0n ? byte : byte | 0x80)
  } while (rest > 0n)
  return Uint8Array.from(bytes)
}

function field(number: number, wireType: number, ...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat([varint(number * 8 + wireType), ...parts])
}

/** A field with a number or a boolean. */
export function varintField(number: number, value: number): Uint8Array {
  return field(number, 0, varint(value))
}

/** A field of eight bytes. */
export function fixed64Field(number: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return field(number, 1, bytes)
}

/** A field with bytes. */
export function bytesField(number: number, bytes: Uint8Array): Uint8Array {
  return field(number, 2, varint(bytes.length), bytes)
}

/** A field with text. */
export function stringField(number: number, text: string): Uint8Array {
  return bytesField(number, Buffer.from(text))
}

/** A field with a message of these fields; also a map entry, with its key as field 1 and its value as field 2. */
export function messageField(number: number, ...fields: Uint8Array[]): Uint8Array {
  return bytesField(number, Buffer.concat(fields))
}

/** A complete body: the magic bytes and the envelope around an object with these fields. */
export function body(apiVersion: string, kind: string, ...fields: Uint8Array[]): Uint8Array {
  const typeMeta = messageField(1, stringField(1, apiVersion), stringField(2, kind))
  return Buffer.concat([Buffer.from('k8s\0'), typeMeta, messageField(2, ...fields)])
}
