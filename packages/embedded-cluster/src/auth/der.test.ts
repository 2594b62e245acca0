import { describe, expect, it } from 'vitest'
import { contextPrimitive, integer, itemsOf, namedBits, objectIdentifier, octetString, sequence, time } from './der.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('DER', () => {
  it.each([
    [0, '0400'],
    [127, '047f'],
    [128, '048180'],
    [255, '0481ff'],
    [256, '04820100'],
    [65_536, '0483010000'],
  ])('writes the length of %i bytes in as few bytes as possible', (length, start) => {
    const encoded = octetString(Buffer.alloc(length))
    expect(hex(encoded.subarray(0, encoded.length - length))).toBe(start)
  })

  it.each([
    ['2.5.29.15', '0603551d0f'],
    ['1.2.840.10045.4.3.2', '06082a8648ce3d040302'],
    ['1.3.6.1.5.5.7.3.1', '06082b06010505070301'],
  ])('writes the object identifier %s', (dotted, encoded) => {
    expect(hex(objectIdentifier(dotted))).toBe(encoded)
  })

  it('omits trailing zeros of named bits', () => {
    expect([0x80, 0x06, 0x86, 0].map((bits) => hex(namedBits(bits)))).toEqual([
      '03020780',
      '03020106',
      '03020186',
      '030100',
    ])
  })

  it('writes times with two digits for the year until 2049', () => {
    expect(time(new Date('2049-12-31T23:59:59.999Z')).toString()).toBe('\x17\x0d491231235959Z')
    expect(time(new Date('2050-01-01T00:00:00Z')).toString()).toBe('\x18\x0f20500101000000Z')
  })

  it('finds the items of a sequence again, whatever their length', () => {
    const items = [0, 5, 130, 70_000].map((length) => contextPrimitive(3, Buffer.alloc(length, 1)))
    expect(itemsOf(sequence(...items, integer(Buffer.from([1])))).map(hex)).toEqual([...items.map(hex), '020101'])
    expect(itemsOf(sequence())).toEqual([])
  })

  it('ends at the end of the bytes when a length says more', () => {
    expect(itemsOf(Buffer.from('300a0401', 'hex')).map(hex)).toEqual(['0401'])
  })
})
