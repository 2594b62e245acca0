import { describe, expect, it } from 'vitest'
import { parseYaml } from './parse-yaml.ts'

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
