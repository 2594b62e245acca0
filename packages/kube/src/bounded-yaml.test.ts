import { assert, jsonValue, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineCounter, stringify } from 'yaml'
import { parseYamlDocuments, type YamlOptions } from './bounded-yaml.ts'

const parse = (text: string, options?: YamlOptions) => parseYamlDocuments(text, options)
const errors = (text: string, options?: YamlOptions) => parse(text, options).flatMap((document) => document.errors)
const messages = (text: string, options?: YamlOptions) => errors(text, options).map(({ message }) => message)
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe('YAML within limits', () => {
  it('is parsed', () => {
    assert(
      property(jsonValue(), (value) => {
        const [document] = parse(stringify(value, { aliasDuplicateObjects: false }))
        expect(JSON.stringify(document?.toJS())).toBe(JSON.stringify(value))
      }),
    )
  })

  it.each([
    ['brackets', nested(20_000)],
    ['unclosed brackets', '['.repeat(20_000)],
    ['dashes', '- '.repeat(20_000)],
    ['question marks', '? '.repeat(20_000)],
    ['maps', Array.from({ length: 2_000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
  ])('nested too deeply by %s is an error, and the rest is not parsed', (_name, deep) => {
    const [first, second, third] = parse(`a: 1\n---\n${deep}\n--- \nb: 2\n`)
    expect(first?.toJS()).toEqual({ a: 1 })
    expect(second?.errors.map(({ message }) => message)).toEqual(['nested deeper than 256 levels'])
    expect(third).toBeUndefined()
  })

  it('may be as deep as the limit', () => {
    expect(errors(nested(256))).toEqual([])
    expect(messages(nested(257))).toEqual(['nested deeper than 256 levels'])
    expect(messages('a: {b: {c: 1}}', { maxDepth: 2 })).toEqual(['nested deeper than 2 levels'])
  })

  it('has a limited length', () => {
    expect(errors('a: 1', { maxLength: 4 })).toEqual([])
    expect(messages('a: 10', { maxLength: 4 })).toEqual(['longer than 4 characters'])
  })

  it('has a limited number of aliases', () => {
    const text = `- &a x\n${'- *a\n'.repeat(1_001)}`
    expect(messages(text)).toEqual(['more than 1000 aliases'])
    expect(errors(text, { maxAliases: 1_001 })).toEqual([])
    expect(messages(`[&a x, ${'*a, '.repeat(1_001)}]`)).toEqual(['more than 1000 aliases'])
    expect(errors(`- "*a"\n${"- '*a'\n- x*a\n".repeat(1_001)}`)).toEqual([])
  })

  it('reports a duplicate key and its line', () => {
    const lineCounter = new LineCounter()
    const [error] = errors('a: 1\nb: {c: 1}\na: 2\n', { lineCounter })
    expect(error).toMatchObject({ code: 'DUPLICATE_KEY', message: 'duplicate key "a"' })
    expect(lineCounter.linePos(error?.pos[0] ?? 0)).toEqual({ line: 3, col: 1 })
    expect(messages('"1": a\n1: b')).toEqual(['duplicate key "1"'])
    expect(messages('- {a: 1}\n- {a: 1}')).toEqual([])
    expect(messages('a: 1\na: 2', { uniqueKeys: false })).toEqual([])
  })

  it('finds a duplicate key among very many quickly', () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `key-${index}: 1`).join('\n')
    expect(errors(text)).toEqual([])
    expect(messages(`${text}\nkey-7: 2`)).toEqual(['duplicate key "key-7"'])
  })

  it('may merge several maps into one', () => {
    const text = 'a: &a {x: 1}\nb: &b {z: 2}\nc:\n  <<: *a\n  <<: *b\n'
    const [document] = parse(text, { version: '1.1' })
    expect(document?.errors).toEqual([])
    expect(document?.toJS()).toMatchObject({ c: { x: 1, z: 2 } })
  })

  it('must have keys that are text', () => {
    expect(messages('? {a: 1}\n: b')).toEqual(['a key must be text'])
    expect(messages(`${'{'.repeat(100)}a: 1${'}: 1'.repeat(100)}`)).toContain('a key must be text')
  })

  it('must not have an alias inside its own anchor', () => {
    expect(messages('a: &a [1, *a]')).toEqual(['the alias *a is inside its own anchor'])
    expect(messages('a: &a {b: {c: *a}}')).toEqual(['the alias *a is inside its own anchor'])
    expect(messages('a: &a [1]\nb: *a')).toEqual([])
  })

  it('treats keys named __proto__ as fields, not as prototypes', () => {
    const [document] = parse('__proto__: {isAdmin: true}\na: &a {__proto__: 1}\nb: {<<: *a}', { version: '1.1' })
    const value = document?.toJS() as object
    expect(JSON.stringify(value)).toBe('{"__proto__":{"isAdmin":true},"a":{"__proto__":1},"b":{"__proto__":1}}')
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })
})
