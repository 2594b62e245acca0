/** The name of an object in Kubernetes' protobuf encoding, which clients in Go use for built-in kinds. */

/** What every message begins with: `k8s` and a zero. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00]

/** Fields on the way: the object in its envelope, its metadata, its name. Every kind has them at these numbers. */
const OBJECT = 2
const METADATA = 1
const NAME = 1

/** The type of fields that have a length. */
const WITH_LENGTH = 2

/** Whether a body is in this encoding. */
export function isProtobuf(body: Uint8Array): boolean {
  return MAGIC.every((byte, index) => body[index] === byte)
}

/** The name; `undefined` when there is none, or the body is damaged. */
export function nameInProtobuf(body: Uint8Array): string | undefined {
  const object = field(body.subarray(MAGIC.length), OBJECT)
  const metadata = object && field(object, METADATA)
  const name = metadata && field(metadata, NAME)
  return name === undefined || name.length === 0 ? undefined : Buffer.from(name).toString('utf8')
}

/** The content of a field with a length. */
function field(message: Uint8Array, wanted: number): Uint8Array | undefined {
  let at = 0
  while (at < message.length) {
    const tag = varint(message, at)
    if (tag === undefined) return undefined
    at = tag.end
    const type = tag.value & 7
    const size = type === WITH_LENGTH || type === 0 ? varint(message, at) : undefined
    if (type === WITH_LENGTH && size !== undefined) {
      const content = message.subarray(size.end, size.end + size.value)
      if (tag.value >> 3 === wanted) return content
      at = size.end + size.value
    } else if (type === 0 && size !== undefined) at = size.end
    else if (type === 1) at += 8
    else if (type === 5) at += 4
    else return undefined
  }
  return undefined
}

function varint(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  // Lengths and tags fit into 28 bits; longer numbers are skipped correctly, their value does not matter.
  for (let at = start, shift = 0; at < bytes.length && at < start + 10; at++, shift += 7) {
    const byte = bytes[at] ?? 0
    if (shift < 28) value |= (byte & 0x7f) << shift
    if (byte < 0x80) return { value, end: at + 1 }
  }
  return undefined
}
