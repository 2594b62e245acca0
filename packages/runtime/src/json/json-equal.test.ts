import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digest, isJsonEqual } from './json-equal.ts'

/** Much that JSON writes unescaped, and everything that it escapes. */
const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '\u2028', '\ud800'))
const hashOf = (json: string): string => createHash('sha256').update(json).digest('hex').slice(0, 16)

describe('equality', () => {
  it.each(['__proto__', 'constructor', 'toString'])('distinguishes a field named %s from an absent one', (name) => {
    const value: unknown = JSON.parse(`{"${name}":"x"}`)
    expect(isJsonEqual({}, value)).toBe(false)
    expect(isJsonEqual(value, {})).toBe(false)
    expect(isJsonEqual(value, JSON.parse(`{"${name}":"x"}`))).toBe(true)
  })

  it('takes absent and undefined as the same', () => {
    expect(isJsonEqual({ a: undefined }, {})).toBe(true)
    expect(isJsonEqual({}, { a: undefined })).toBe(true)
    expect(isJsonEqual({ a: undefined }, { a: 1 })).toBe(false)
    expect(isJsonEqual({ a: 1 }, { a: undefined })).toBe(false)
  })
})

describe('a digest', () => {
  it('stays what it was: objects in clusters carry it', () => {
    expect(digest({ b: [1, null, 'x"\\\n'], a: { é: true, 10: 0.5, 9: -0 } })).toBe('2feecfe22f6840e1')
    expect(digest(undefined)).toBe('74234e98afe7498f')
  })

  it('is that of the JSON, whatever text is in it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(digest([text])).toBe(hashOf(JSON.stringify([text])))
        expect(digest({ [text]: 1 })).toBe(hashOf(JSON.stringify({ [text]: 1 })))
      }),
    )
  })

  it('does not depend on the order of properties', () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, fc.integer()), (values) => {
        expect(digest(Object.fromEntries(Object.entries(values).reverse()))).toBe(digest(values))
      }),
    )
  })

  it('takes absent and undefined as the same', () => {
    expect(digest({ a: 1, b: undefined })).toBe(digest({ a: 1 }))
    expect(digest({ a: 1, b: null })).not.toBe(digest({ a: 1 }))
  })
})
