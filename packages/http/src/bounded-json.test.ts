import { assert, json, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonLimitError, outlineJson, parseBoundedJson } from './bounded-json.ts'

const parse = (text: string, limits?: Parameters<typeof parseBoundedJson>[1]) =>
  parseBoundedJson(Buffer.from(text), limits)
const outline = (text: string, maxDepth: number) => Buffer.from(outlineJson(Buffer.from(text), maxDepth)).toString()
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('JSON within limits', () => {
  it('equals the result of JSON.parse', () => {
    assert(
      property(json(), (text) => {
        expect(parse(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('may be as deep as the limit and no deeper', () => {
    expect(parse(nested(3), { maxDepth: 3 })).toEqual([[[]]])
    expect(() => parse(nested(4), { maxDepth: 3 })).toThrow('nested deeper than 3 levels')
    expect(() => parse(`{"a":{"b":{"c":{}}}}`, { maxDepth: 3 })).toThrow(JsonLimitError)
  })

  it('of a million levels is rejected without exhausting the stack', () => {
    expect(() => parse(nested(1_000_000))).toThrow('nested deeper than 1000 levels')
    expect(() => parse('['.repeat(1_000_000))).toThrow('nested deeper than 1000 levels')
    expect(() => parse('{"a":'.repeat(1_000_000))).toThrow('nested deeper than 1000 levels')
  })

  it('does not count characters in strings', () => {
    const tricky = JSON.stringify({ a: '[[[{{{', '\\"[{': '\\\\', b: '"\\\\"[[[' })
    expect(parse(tricky, { maxDepth: 1, maxNodes: 4 })).toEqual(JSON.parse(tricky))
  })

  it('has a limited number of objects, lists and fields', () => {
    expect(parse('{"a":[1,2,3],"b":{}}', { maxNodes: 5 })).toEqual({ a: [1, 2, 3], b: {} })
    expect(() => parse('{"a":[1,2,3],"b":{}}', { maxNodes: 4 })).toThrow('more than 4 objects, lists and fields')
  })

  it('has a limited number of items, whatever they are', () => {
    expect(parse('[1,2,[],"a,b"]', { maxItems: 3 })).toEqual([1, 2, [], 'a,b'])
    expect(() => parse('[1,2,[],"a,b"]', { maxItems: 2 })).toThrow('more than 2 items')
    expect(() => parse(`[${'1,'.repeat(1_000_001)}1]`)).toThrow(JsonLimitError)
  })

  it('that is malformed is a syntax error', () => {
    for (const text of ['', '{', ']', '}}}}', '"', '"\\', '{"a"', '[1,]']) {
      expect(() => parse(text), text).toThrow(SyntaxError)
    }
  })

  it('with a field named __proto__ changes no prototype', () => {
    const value = parse('{"__proto__":{"isAdmin":true}}') as object
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(value)).toEqual(['__proto__'])
  })
})

describe('the outline of a JSON text', () => {
  it('keeps the upper levels and replaces lower ones by null', () => {
    expect(outline('{"uid":"1","object":{"a":[{}]},"list":[[]],"n":1}', 1)).toBe(
      '{"uid":"1","object":null,"list":null,"n":1}',
    )
    expect(outline('{"a":{"b":{"c":1}}}', 2)).toBe('{"a":{"b":null}}')
    expect(outline('{"a":"[{"}', 1)).toBe('{"a":"[{"}')
  })

  it('of valid JSON is valid JSON, and no deeper than requested', () => {
    assert(
      property(json(), (text) => {
        expect(() => parse(outline(text, 2), { maxDepth: 2 })).not.toThrow()
      }),
    )
  })

  it('of truncated text is not valid JSON either', () => {
    expect(() => JSON.parse(outline('{"a":[[[', 1))).toThrow(SyntaxError)
  })
})
