/**
 * The encoding of protocol buffers, as far as the driver needs it. Its messages have a dozen fields in all; a library for
 * them would be more code than the driver, in containers of 30 MiB.
 */

/** One field of a message: its number, and a number or bytes. */
export interface Field {
  readonly number: number
  readonly value: bigint | Uint8Array
}

/** Thrown for bytes that are not a message. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly code = 'CSI_WIRE'
}

const VARINT = 0n
const FIXED64 = 1n
const BYTES = 2n
const FIXED32 = 5n
const MAX_VARINT_BYTES = 10

/**
 * The fields of a message in their order. Unknown ones are for the caller to ignore.
 *
 * *Errors*: {@link WireError} if the bytes end too early or have an unknown type.
 *
 * @example
 * for (const { number, value } of readFields(bytes)) if (number === 1) name = text(value)
 */
export function* readFields(bytes: Uint8Array): Generator<Field> {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = bytes[at++]
      if (byte === undefined) throw new WireError('the message ends inside a number')
      value |= BigInt(byte & 0x7f) << BigInt(7 * index)
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw new WireError('the message has a number of more than 64 bits')
  }
  const take = (length: bigint): Uint8Array => {
    if (length > BigInt(bytes.byteLength - at)) throw new WireError('the message ends inside a field')
    const taken = bytes.subarray(at, at + Number(length))
    at += taken.byteLength
    return taken
  }
  while (at < bytes.byteLength) {
    const tag = varint()
    const number = Number(tag >> 3n)
    const type = tag & 7n
    if (type === VARINT) yield { number, value: varint() }
    else if (type === BYTES) yield { number, value: take(varint()) }
    else if (type === FIXED64 || type === FIXED32) take(type === FIXED64 ? 8n : 4n)
    else throw new WireError(`field ${number} has the unknown type ${type}`)
  }
}

/** The text of a field; empty for a number. */
export function text(value: Field['value']): string {
  return typeof value === 'bigint' ? '' : Buffer.from(value).toString('utf8')
}

/** The message of a field; empty for a number. */
export function nested(value: Field['value']): Uint8Array {
  return typeof value === 'bigint' ? new Uint8Array() : value
}

/** The key and value of an entry of a map. */
export function mapEntry(value: Field['value']): readonly [string, string] {
  const entry = { key: '', value: '' }
  for (const field of readFields(nested(value))) {
    if (field.number === 1) entry.key = text(field.value)
    if (field.number === 2) entry.value = text(field.value)
  }
  return [entry.key, entry.value]
}

/** A message of these fields, each from {@link textField} or {@link boolField}. */
export function message(...fields: readonly Uint8Array[]): Buffer {
  return Buffer.concat(fields)
}

/** A field with text; nothing if it is empty, which is the default. */
export function textField(number: number, content: string): Buffer {
  return content === '' ? Buffer.alloc(0) : bytesField(number, Buffer.from(content))
}

/** A field with bytes or a message, even an empty one. */
export function bytesField(number: number, content: Uint8Array): Buffer {
  return Buffer.concat([varintBytes(number * 8 + Number(BYTES)), varintBytes(content.byteLength), content])
}

/** A field with a truth value; nothing for false, which is the default. */
export function boolField(number: number, isTrue: boolean): Buffer {
  return isTrue ? Buffer.concat([varintBytes(number * 8), Buffer.from([1])]) : Buffer.alloc(0)
}

function varintBytes(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  return Buffer.from([...bytes, rest])
}
