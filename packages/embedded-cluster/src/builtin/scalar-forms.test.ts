import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalBase64, canonicalTime } from './scalar-forms.ts'

describe('times', () => {
  it.each([
    ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00+02:00', '2019-12-31T22:00:00Z'],
    ['2020-01-01T00:00:00.123456789Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00,5Z', '2020-01-01T00:00:00Z'],
    ['2024-02-29T23:59:59-00:30', '2024-03-01T00:29:59Z'],
  ])('%s is stored as %s', (text, stored) => {
    expect(canonicalTime(text, false)).toBe(stored)
  })

  it('keep microseconds where the type has them, and then require six digits', () => {
    expect(canonicalTime('2020-01-01T02:00:00.000006+02:00', true)).toBe('2020-01-01T00:00:00.000006Z')
    expect(() => canonicalTime('2020-01-01T00:00:00Z', true)).toThrow(
      'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    )
  })

  it('have no text when they are zero', () => {
    expect(canonicalTime('0001-01-01T00:00:00Z', false)).toBeNull()
  })

  // Messages of a real API server.
  it.each([
    ['', 'parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006"'],
    ['x', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    ['2020-01-01', 'parsing time "2020-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
    [
      '2020-01-01T00:00:00',
      'parsing time "2020-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"',
    ],
    ['2020-13-01T00:00:00Z', 'parsing time "2020-13-01T00:00:00Z": month out of range'],
    ['2020-02-30T00:00:00Z', 'parsing time "2020-02-30T00:00:00Z": day out of range'],
    ['2020-01-01T25:00:00Z', 'parsing time "2020-01-01T25:00:00Z": hour out of range'],
    ['2020-01-01T00:00:00Zx', 'parsing time "2020-01-01T00:00:00Zx": extra text: "x"'],
    ['2020-01-01T00:00:00+25:00', 'parsing time "2020-01-01T00:00:00+25:00": time zone offset hour out of range'],
    [
      '10000-01-01T00:00:00Z',
      'parsing time "10000-01-01T00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse "0-01-01T00:00:00Z" as "-"',
    ],
  ])('%s is rejected', (text, message) => {
    expect(() => canonicalTime(text, false)).toThrow(message)
  })

  it('are the same instant in their stored form', () => {
    const noNewYear = fc.date({ min: new Date('0100-01-01'), max: new Date('9999-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(noNewYear, fc.integer({ min: -23, max: 23 }), (date, hours) => {
        const local = new Date(date.getTime() + hours * 3_600_000).toISOString().slice(0, 19)
        const zone = `${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}:00`
        expect(canonicalTime(`${local}${zone}`, false)).toBe(`${date.toISOString().slice(0, 19)}Z`)
      }),
    )
  })
})

describe('bytes', () => {
  it('are stored without line breaks and without unused bits', () => {
    expect(canonicalBase64('YQ\n==\r\n')).toBe('YQ==')
    expect(canonicalBase64('YR==')).toBe('YQ==')
    expect(canonicalBase64('')).toBe('')
  })

  it.each([
    ['!!!', 0],
    ['YQ=', 3],
    ['YQ', 0],
    ['Y', 0],
    ['YQ==YQ==', 4],
    ['a-b_', 1],
    [' YQ==', 0],
    ['YWJjYQ', 4],
  ])('%j is rejected at byte %d', (text, at) => {
    expect(() => canonicalBase64(text)).toThrow(`illegal base64 data at input byte ${at}`)
  })

  it('of three million characters are supported', () => {
    const large = Buffer.alloc(2_250_000, 7).toString('base64')
    expect(canonicalBase64(large)).toBe(large)
    expect(() => canonicalBase64(`${large}!`)).toThrow('illegal base64 data')
  })

  it('are unchanged after decoding and encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        expect(canonicalBase64(text)).toBe(text)
      }),
    )
  })
})
