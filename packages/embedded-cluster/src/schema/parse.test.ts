import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StatusError } from '../status-error.ts'
import { parseJson } from './parse.ts'

describe('parseJson', () => {
  it('reads any JSON and finds no duplicates in what JSON.stringify wrote', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const parsed = parseJson(JSON.stringify(value))
        expect(parsed.value).toEqual(JSON.parse(JSON.stringify(value)))
        expect(parsed.duplicates).toEqual([])
      }),
    )
  })

  it('names duplicate fields with their path and keeps the last value', () => {
    const { value, duplicates } = parseJson(
      '{"data":{"a":"1","a":"2"},"list":[{"x":1},{"y":{"z":1,"z":2},"y":3}],"data":{"b":"\\"}{"}}',
    )
    expect(duplicates).toEqual(['data.a', 'list[1].y.z', 'list[1].y', 'data'])
    expect(value).toEqual({ data: { b: '"}{' }, list: [{ x: 1 }, { y: 3 }] })
  })

  it('sees that an escaped name repeats a plain one', () => {
    expect(parseJson('{"a":1,"\\u0061":2}').duplicates).toEqual(['a'])
  })

  it('finds duplicates in what was written, even if the value was changed since', () => {
    const parsed = parseJson('{"data":{"a":1,"a":2,"a":3}}')
    Object.assign(parsed.value as object, { kind: 'ConfigMap', apiVersion: 'v1' })
    expect(parsed.duplicates).toEqual(['data.a', 'data.a'])
  })

  it('rejects invalid JSON with 400 and the reason', () => {
    for (const text of ['', '{', '{"a":}', 'nope', '[1,]']) {
      expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 400, reason: 'BadRequest' }))
    }
  })

  it('refuses nesting that would exhaust the stack', () => {
    const depth = 200_000
    expect(() => parseJson('['.repeat(depth) + ']'.repeat(depth))).toThrow(/nested deeper than 1000 levels/)
    expect(() => parseJson(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)).toThrow(StatusError)
    expect(parseJson('['.repeat(900) + ']'.repeat(900)).duplicates).toEqual([])
  })

  it('refuses a number that is larger than any number can be', () => {
    expect(() => parseJson('{"a": [1e999]}')).toThrow('not valid JSON: a number is too large')
  })

  it('does not count brackets inside strings', () => {
    expect(parseJson(JSON.stringify({ text: '['.repeat(5000) })).value).toEqual({ text: '['.repeat(5000) })
  })
})
