import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatEntry, parseEntry } from './node-entry.ts'

describe('what is recorded about a node', () => {
  it('is written as other releases read it', () => {
    expect(formatEntry({ seenMs: Date.UTC(2030, 0, 2, 3, 4, 5), ip: '10.0.0.1', instance: 'dynakube' })).toBe(
      '{"seen":"2030-01-02T03:04:05Z","marked":"0001-01-01T00:00:00Z","ip":"10.0.0.1","instance":"dynakube"}',
    )
  })

  it('is read as other releases write it', () => {
    const text =
      '{"seen":"2030-01-02T05:04:05.123456789+02:00","marked":"2030-01-02T03:00:00Z","ip":"a","instance":"b"}'
    expect(parseEntry(text)).toEqual({
      seenMs: Date.UTC(2030, 0, 2, 3, 4, 5, 123),
      markedMs: Date.UTC(2030, 0, 2, 3),
      ip: 'a',
      instance: 'b',
    })
  })

  it.each([undefined, '', 'nonsense', 'null', '[]', '7'])('cannot be read from %j', (text) => {
    expect(parseEntry(text)).toBeUndefined()
  })

  it('was never seen nor marked when it has no times', () => {
    expect(parseEntry('{"seen":7,"marked":"soon","ip":{}}')).toEqual({ seenMs: 0, ip: '', instance: '' })
  })

  it('survives being written and read', () => {
    const seconds = fc.integer({ min: 1, max: 4_000_000_000 }).map((value) => value * 1_000)
    const entries = fc.record(
      { seenMs: seconds, markedMs: seconds, ip: fc.string(), instance: fc.string() },
      { requiredKeys: ['seenMs', 'ip', 'instance'] },
    )
    fc.assert(
      fc.property(entries, (entry) => {
        expect(parseEntry(formatEntry(entry))).toEqual(entry)
      }),
    )
  })
})
