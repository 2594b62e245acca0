import { describe, expect, it } from 'vitest'
import { readYaml, YamlFault, yamlValue } from './read-yaml.ts'

const limits = { maxTokens: 100_000 }
const valuesOf = (text: string, options: object = {}) => readYaml(text, { ...limits, ...options }).map(yamlValue)
const lines = (count: number, line: (index: number) => string) => Array.from({ length: count }, (_, i) => line(i))

describe('readYaml', () => {
  it('reads documents, keys of any scalar as text, and anchors', () => {
    expect(valuesOf('a: &x {1: 2}\nb: *x\n---\n- true')).toEqual([{ a: { 1: 2 }, b: { 1: 2 } }, [true]])
  })

  it('names the line of a mistake and quotes nothing', () => {
    expect(() => valuesOf('a: 1\nb: "hunter2')).toThrow(/^is not valid YAML in line 2 \(MISSING_CHAR\)$/)
    expect(() => valuesOf('a:\n  hunter2: 1\n  hunter2: 2')).toThrow(/^is not valid YAML in line 3 \(DUPLICATE_KEY\)$/)
  })

  it('uses the last of equal keys if requested', () => {
    expect(valuesOf('a: 1\na: 2', { uniqueKeys: false })).toEqual([{ a: 2 }])
  })

  // Each of these took minutes, for no more than a request may carry.
  it.each([
    ['maps as keys within maps as keys', '? '.repeat(2_000)],
    ['maps as keys in flow style', '{? '.repeat(2_000)],
    ['thousands of keys in one map', lines(14_000, (i) => `${i.toString(36)}:`).join('\n')],
    ['lists in lists', '['.repeat(20_000)],
    ['lists in lists that end', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['aliases of aliases', lines(50, (i) => `k${i}: &k${i} [${i === 0 ? 'x' : `*k${i - 1}, *k${i - 1}`}]`).join('\n')],
  ])('is not kept busy by %s', (_, text) => {
    try {
      valuesOf(text)
    } catch (error) {
      expect(error).toBeInstanceOf(YamlFault)
    }
  })

  it('rejects a text with too many tokens before it parses any of them', () => {
    expect(() => valuesOf('}'.repeat(100_001))).toThrow('has more than 100000 YAML tokens')
  })
})
