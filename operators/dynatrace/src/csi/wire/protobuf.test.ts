import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPublishRequest, readUnpublishRequest, writeNodeInfo } from './csi-messages.ts'
import { boolField, bytesField, mapEntry, message, readFields, text, textField, WireError } from './protobuf.ts'

describe('a message', () => {
  it('is decoded to what was encoded, for any text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 29 - 1 }), fc.string({ unit: 'grapheme' }), (number, content) => {
        const fields = [...readFields(textField(number, content))]
        expect(fields.map((field) => [field.number, text(field.value)])).toEqual(
          content === '' ? [] : [[number, content]],
        )
      }),
    )
  })

  it('has fields of other types and numbers, which are skipped or ignored', () => {
    const fixed = Buffer.from([(9 << 3) | 5, 1, 2, 3, 4, (10 << 3) | 1, 1, 2, 3, 4, 5, 6, 7, 8])
    const bytes = message(fixed, boolField(7, true), textField(2, '/target'), textField(1, 'id'), textField(99, 'new'))
    expect(readUnpublishRequest(bytes)).toEqual({ volumeId: 'id', targetPath: '/target' })
  })

  it('is either a message or an error, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          readPublishRequest(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(WireError)
        }
      }),
    )
  })

  it.each([
    ['a number without an end', [0x08, 0xff]],
    ['a number without an end of more than 64 bits', [0x08, ...Array.from({ length: 11 }, () => 0xff)]],
    ['a length beyond the message', [0x0a, 0x05, 0x61]],
    ['an unknown type', [0x0b]],
  ])('is an error with %s', (_, bytes) => {
    expect(() => [...readFields(Uint8Array.from(bytes))]).toThrow(WireError)
  })

  it('has no field for a value that is the default', () => {
    expect([textField(1, ''), boolField(1, false), writeNodeInfo({ nodeId: '' })].map(({ length }) => length)).toEqual([
      0, 0, 0,
    ])
  })
})

describe('a request to publish a volume', () => {
  const entry = (key: string, value: string) => bytesField(8, message(textField(1, key), textField(2, value)))

  it('has attributes, where the last of a name counts', () => {
    const { volumeContext } = readPublishRequest(message(entry('a', '1'), entry('b', ''), entry('a', '2')))
    expect(volumeContext).toEqual({ a: '2', b: '' })
  })

  it('has attributes whose names mean nothing to JavaScript', () => {
    const { volumeContext } = readPublishRequest(entry('__proto__', 'x'))
    expect(Object.keys(volumeContext ?? {})).toEqual(['__proto__'])
  })

  it.each([
    [bytesField(1, new Uint8Array()), 'block'],
    [bytesField(2, new Uint8Array()), 'mount'],
    [new Uint8Array(), 'none'],
  ])('has an access type, even an empty one', (capability, expected) => {
    expect(readPublishRequest(bytesField(5, capability)).capability).toBe(expected)
  })

  it('omits absent fields', () => {
    expect(readPublishRequest(new Uint8Array())).toEqual({ volumeId: '', targetPath: '' })
    expect(mapEntry(0n)).toEqual(['', ''])
  })
})
