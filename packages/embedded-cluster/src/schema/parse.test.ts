import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StatusError } from '../status-error.ts'
import { parseJson, parseYaml } from './parse.ts'

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

describe('parseYaml', () => {
  it('reads JSON as well', () => {
    expect(parseYaml(' {"a": [1, true, null]}').value).toEqual({ a: [1, true, null] })
  })

  it('reads scalars as Kubernetes does', () => {
    const text =
      'mode: 0644\noctal: 0o17\non: yes\ntime: 2024-01-01\nclock: 1:30\nempty:\nname: "yes"\nhex: 0x10\nfloat: 1.5'
    expect(parseYaml(text).value).toEqual({
      mode: 420,
      octal: 15,
      true: true,
      time: '2024-01-01',
      clock: '1:30',
      empty: null,
      name: 'yes',
      hex: 16,
      float: 1.5,
    })
  })

  it('resolves anchors and merge keys', () => {
    expect(parseYaml('base: &b {x: 1}\na: *b\nc:\n  <<: *b\n  z: 2').value).toEqual({
      base: { x: 1 },
      a: { x: 1 },
      c: { x: 1, z: 2 },
    })
  })

  it('names duplicate fields', () => {
    expect(parseYaml('data:\n  a: 1\n  a: 2\nlist:\n- x: 1\n  x: 2').duplicates).toEqual(['data.a', 'list[0].x'])
  })

  it('says line and column of a mistake', () => {
    expect(() => parseYaml('a: b\nc: d: e')).toThrow(/not valid YAML: line 2, column \d+/)
  })

  it('refuses documents inflated by aliases or nested too deep', () => {
    const laughs = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'.split('').map((name, index) => {
        const previous = 'abcdefgh'.charAt(index)
        return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${previous}`).join(',')}]`
      }),
    ].join('\n')
    expect(() => parseYaml(laughs)).toThrow(expect.objectContaining({ code: 400 }))
    expect(() => parseYaml(`a: ${'['.repeat(3000)}${']'.repeat(3000)}`)).toThrow(/nested deeper/)
    expect(() => parseYaml(`${'- '.repeat(3000)}x`)).toThrow(/nested deeper/)
  })

  it.each([`${'{'.repeat(400)}${'}'.repeat(400)}`, `${'? '.repeat(400)}a`, '? [a]\n: b', 'a: &a [b]\n? *a\n: c'])(
    'refuses maps and lists as keys: %s',
    (text) => {
      expect(() => parseYaml(text)).toThrow('a key must be a scalar')
    },
  )

  it('refuses numbers JSON does not have', () => {
    expect(() => parseYaml('a: .nan')).toThrow(expect.objectContaining({ code: 400 }))
  })
})
