import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBoolean, parseDurationMs, parseInteger, parseJsonBoolean, parseTextList } from './annotation-values.ts'

describe('annotation values', () => {
  it.each(['1', 't', 'T', 'TRUE', 'true', 'True'])('reads %s as yes', (text) => {
    expect(parseBoolean(text)).toBe(true)
  })

  it.each(['0', 'f', 'F', 'FALSE', 'false', 'False'])('reads %s as no', (text) => {
    expect(parseBoolean(text)).toBe(false)
  })

  it.each(['', 'yes', 'tRuE', ' true'])('reads "%s" as not given', (text) => {
    expect(parseBoolean(text)).toBeUndefined()
  })

  it('reads whole numbers only', () => {
    expect(['7', '-1', '+3', '0x1', '1.5', '', '1e3', '99999999999999999999'].map(parseInteger)).toEqual([
      7,
      -1,
      3,
      ...Array(5).fill(undefined),
    ])
  })

  it('reads durations with units', () => {
    expect(['1h30m', '10m', '1.5s', '250ms', '0', '-2s', '1m0.5s'].map(parseDurationMs)).toEqual([
      5_400_000, 600_000, 1_500, 250, 0, -2_000, 60_500,
    ])
    expect(['5', '-1', 'abc', '', '1h x', '1d', 'h', '1m '].map(parseDurationMs)).toEqual(Array(8).fill(undefined))
  })

  it('reads lists of texts, and null as none', () => {
    expect(['["a","b"]', '[]', 'null'].map(parseTextList)).toEqual([['a', 'b'], [], []])
    expect(['[1,2,3]', '{"a":1}', '[', '', '"a"'].map(parseTextList)).toEqual(Array(5).fill(undefined))
  })

  it('reads null as no where JSON is expected', () => {
    expect(['true', 'false', 'null', 'TRUE', '1', ''].map(parseJsonBoolean)).toEqual([
      true,
      false,
      false,
      undefined,
      undefined,
      undefined,
    ])
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const parse of [parseBoolean, parseInteger, parseDurationMs, parseTextList, parseJsonBoolean]) parse(text)
      }),
    )
  })
})
