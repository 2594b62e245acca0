import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { applyMergePatch } from './merge-patch.ts'

const { value: anyValue, object: anyObject } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    fc.string(),
    fc.integer(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
}))

/** A document, as opposed to a patch, contains null only in lists. */
function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([name, field]) => [name, isJsonObject(field) ? withoutNulls(field) : field]),
  )
}
const document = anyObject.map(withoutNulls)

describe('applyMergePatch', () => {
  it('merges objects, replaces everything else and removes by null', () => {
    const result = applyMergePatch(
      { a: { b: 1, c: 2 }, list: [1, 2], gone: 1 },
      { a: { b: 3, d: { e: null, f: 1 } }, list: [3], gone: null, never: null },
    )
    expect(result).toEqual({ a: { b: 3, c: 2, d: { f: 1 } }, list: [3] })
  })

  it('turns a scalar into an object', () => {
    expect(applyMergePatch({ a: 1 }, { a: { b: { c: 1 } } })).toEqual({ a: { b: { c: 1 } } })
  })

  it('does nothing for an empty patch', () => {
    fc.assert(
      fc.property(document, (object) => {
        expect(applyMergePatch(object, {})).toBe(object)
      }),
    )
  })

  it('does nothing when the document patches itself', () => {
    fc.assert(
      fc.property(document, (object) => {
        expect(applyMergePatch(object, structuredClone(object))).toBe(object)
      }),
    )
  })

  it('is idempotent', () => {
    fc.assert(
      fc.property(document, anyObject, (object, patch) => {
        const once = applyMergePatch(object, patch)
        expect(applyMergePatch(once, patch)).toBe(once)
      }),
    )
  })

  it('sets every scalar in the patch and removes every field it sets to null', () => {
    fc.assert(
      fc.property(document, anyObject, (object, patch) => {
        const result = applyMergePatch(object, patch)
        for (const [name, value] of Object.entries(patch)) {
          if (value === null) expect(result).not.toHaveProperty(name)
          else if (!isJsonObject(value)) expect(result[name]).toEqual(value)
        }
      }),
    )
  })

  it('rejects a patch that is not an object', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        if (isJsonObject(value)) return
        expect(() => applyMergePatch({}, value)).toThrow(expect.objectContaining({ code: 400 }))
      }),
    )
  })

  it('treats unusual names as names', () => {
    const result = applyMergePatch({}, JSON.parse('{"labels":{"__proto__":"x","constructor":{"prototype":null}}}'))
    expect(JSON.stringify(result)).toBe('{"labels":{"__proto__":"x","constructor":{}}}')
  })
})
