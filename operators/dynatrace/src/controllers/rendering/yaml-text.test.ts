import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { yamlText } from './yaml-text.ts'

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.array(fc.string(), { maxLength: 3 }).map((lines) => lines.join('\n')),
  fc.string().map((line) => `${line}\n`),
  fc.constantFrom('true', '0x1', 'a: "b" # c', '- a', ' a', 'a ', '*.local', '&a', '%', '@', "it's", '\n', 'a\n\n'),
)

describe('a text in YAML', () => {
  it('is read back unchanged, at any position', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const tree = { a: one, b: { c: other, d: [one, other], e: [{ f: other, g: [one] }] }, h: 1, i: true }
        expect(parse(yamlText(tree, { keys: 'as given' }))).toEqual(tree)
      }),
    )
  })

  it('that ends in a line break is written as a block', () => {
    expect(yamlText({ oauth: { client_secret: 'dt0s10.A.B\n', resource: 'urn' } }, { keys: 'as given' })).toBe(
      `oauth:
    client_secret: |
        dt0s10.A.B
    resource: urn
`,
    )
    expect(yamlText({ key: 'a\nb' })).toBe('key: |-\n    a\n    b\n')
    expect(yamlText({ key: ' a\n' })).toBe('key: " a\\n"\n')
  })
})
