/** Lines are independent of chunks. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter, LineTooLongError } from './json-lines.ts'

function split(chunks: readonly Uint8Array[], maxLineBytes = 1024): string[] {
  const splitter = new LineSplitter(maxLineBytes)
  const lines = chunks.flatMap((chunk) => [...splitter.push(chunk)])
  const rest = splitter.rest()
  return (rest.length === 0 ? lines : [...lines, rest]).map(String)
}

describe('LineSplitter', () => {
  it('returns the same lines however the bytes are split', () => {
    const value = fc.jsonValue({ noUnicodeString: false }).map((json) => JSON.stringify(json))
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 20 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
        const ends = [...new Set(cuts.map((cut) => (bytes.length === 0 ? 0 : cut % bytes.length)))].toSorted(
          (a, b) => a - b,
        )
        const chunks = [0, ...ends].map((start, index) => bytes.subarray(start, ends[index] ?? bytes.length))
        expect(split(chunks, 1024 * 1024)).toEqual(lines)
      }),
    )
  })

  it('keeps a character whose bytes arrive one by one', () => {
    const bytes = Buffer.from('"😀ä"\n')
    expect(split([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(['"😀ä"'])
  })

  it('supports views that do not start at the beginning of their buffer', () => {
    const buffer = Buffer.from('xx{"a":1}\nyy')
    expect(split([new Uint8Array(buffer.buffer, buffer.byteOffset + 2, 8)])).toEqual(['{"a":1}'])
  })

  it('skips blank lines and tolerates carriage returns', () => {
    expect(split([Buffer.from('a\r\n\n\r\nb')])).toEqual(['a', 'b'])
  })

  it('stops at a line that exceeds the limit, also when it arrives in small parts', () => {
    expect(() => split([Buffer.from('12345\n')], 4)).toThrow(LineTooLongError)
    expect(() =>
      split(
        Array.from({ length: 5 }, () => Buffer.from('1')),
        4,
      ),
    ).toThrow(LineTooLongError)
    expect(split([Buffer.from('1234\n1234\n')], 4)).toEqual(['1234', '1234'])
  })
})
