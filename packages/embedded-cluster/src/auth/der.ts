/** Encodes the few ASN.1 types that certificates consist of, in DER (ITU-T X.690). */

const BOOLEAN = 0x01
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x30
const SET = 0x31
/** The class bits of a tag whose meaning depends on the place: `[0]`, `[1]` and so on. */
const CONTEXT = 0x80
const CONSTRUCTED = 0x20

/** A value with its tag and length. */
function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(content.length)]), content])
}

function lengthOctets(length: number): readonly number[] {
  return length < 0x80 ? [length] : [0x80 | base256(length).length, ...base256(length)]
}

/** The digits of a number, the most significant first. */
function base256(value: number): readonly number[] {
  return value < 0x100 ? [value] : [...base256(Math.floor(value / 0x100)), value % 0x100]
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => tagged(SEQUENCE, ...items)

export const setOf = (item: Uint8Array): Buffer => tagged(SET, item)

/** `value` is a big-endian number whose top bit is clear: otherwise it would be negative. */
export const integer = (value: Uint8Array): Buffer => tagged(INTEGER, value)

export const octetString = (content: Uint8Array): Buffer => tagged(OCTET_STRING, content)

export const utf8String = (text: string): Buffer => tagged(UTF8_STRING, Buffer.from(text))

/** DER omits `false`, the default of every field in a certificate. */
export const isTrue: Buffer = tagged(BOOLEAN, Buffer.from([0xff]))

/** Whole bytes. */
export const bitString = (content: Uint8Array): Buffer => tagged(BIT_STRING, Buffer.from([0]), content)

/** Up to eight named bits, the first in the highest position; trailing zeros are not part of the value. */
export function namedBits(bits: number): Buffer {
  const unused = 31 - Math.clz32(bits & -bits)
  return tagged(BIT_STRING, Buffer.from(bits === 0 ? [0] : [unused, bits]))
}

/** `[number]` around other values (explicit, or implicit in a sequence). */
export const contextConstructed = (number: number, ...items: readonly Uint8Array[]): Buffer =>
  tagged(CONTEXT | CONSTRUCTED | number, ...items)

/** `[number]` in place of the tag of a string. */
export const contextPrimitive = (number: number, content: Uint8Array): Buffer => tagged(CONTEXT | number, content)

/** @param dotted such as `2.5.4.3` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return tagged(OBJECT_IDENTIFIER, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** All digits but the last have the top bit set. */
function base128(value: number): readonly number[] {
  const higher = value < 0x80 ? [] : base128(value >>> 7).map((digit) => digit | 0x80)
  return [...higher, value & 0x7f]
}

/** With a precision of seconds. Certificates use the short form, which has two digits for the year, until 2049. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+|[-:T]/g, '')
  return date.getUTCFullYear() < 2050
    ? tagged(UTC_TIME, Buffer.from(digits.slice(2)))
    : tagged(GENERALIZED_TIME, Buffer.from(digits))
}

/** The encoded values inside an encoded sequence, to copy parts of an existing structure. */
export function itemsOf(encoded: Uint8Array): readonly Uint8Array[] {
  const items: Uint8Array[] = []
  for (let at = contentStart(encoded, 0); at < encoded.length; at = contentEnd(encoded, at)) {
    items.push(encoded.subarray(at, contentEnd(encoded, at)))
  }
  return items
}

function contentStart(bytes: Uint8Array, at: number): number {
  const length = bytes[at + 1] ?? 0
  return at + 2 + (length < 0x80 ? 0 : length & 0x7f)
}

function contentEnd(bytes: Uint8Array, at: number): number {
  const start = contentStart(bytes, at)
  if (start === at + 2) return start + (bytes[at + 1] ?? 0)
  return start + bytes.subarray(at + 2, start).reduce((length, digit) => length * 0x100 + digit, 0)
}
