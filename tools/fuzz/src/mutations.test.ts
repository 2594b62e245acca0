import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byteMutations, mutateBytes } from './byte-mutations.ts'
import { jsonMutations, mutateJson } from './json-mutations.ts'

const other = Buffer.from('{"other": true}')

describe('mutations of bytes', () => {
  it('apply to every input, however short', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), byteMutations(['word']), (input, mutation) => {
        expect(Buffer.isBuffer(mutateBytes(Buffer.from(input), mutation, other))).toBe(true)
      }),
    )
  })

  it('insert the words of the language', () => {
    const word = { kind: 'insert', at: 0x8000, word: 'notin' } as const
    expect(mutateBytes(Buffer.from('a b'), word, other).toString()).toBe('a notinb')
  })
})

describe('mutations of JSON', () => {
  it('leave JSON behind', () => {
    const changes = fc.array(jsonMutations([]), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.json(), changes, (text, mutations) => {
        expect(() => JSON.parse(mutateJson(text, mutations, other) ?? '')).not.toThrow()
      }),
    )
  })

  it('can name a member __proto__', () => {
    const text = mutateJson('{"a": 1}', [{ kind: 'rename-member', at: 1, name: '__proto__' }], other)
    expect(text).toBe('{"__proto__":1}')
  })

  it('can nest deeper than a stack goes', () => {
    const text = mutateJson('{"a": 1}', [{ kind: 'bury', at: 1, depth: 9_000, isList: true }], other)
    expect(text).toBe(`{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}`)
  })

  it('do not apply to what is not JSON', () => {
    expect(mutateJson('{', [], other)).toBeUndefined()
  })
})
