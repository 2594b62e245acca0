import fc from 'fast-check'
import { applyPatch, createPatch, type Operation } from 'rfc6902'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../json.ts'
import { applyJsonPatch } from './json-patch.ts'

const rejected = expect.objectContaining({
  code: 422,
  reason: 'Invalid',
  message: 'the server rejected our request due to an error in our request',
})

function patch(document: JsonObject, ...operations: JsonObject[]): JsonObject {
  return applyJsonPatch(Object.freeze(document), operations)
}

describe('applyJsonPatch', () => {
  const cases: [string, JsonObject, JsonObject[], JsonObject][] = [
    ['adds a field', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['inserts into a list', { l: [1, 3] }, [{ op: 'add', path: '/l/1', value: 2 }], { l: [1, 2, 3] }],
    ['appends to a list', { l: [1] }, [{ op: 'add', path: '/l/-', value: 2 }], { l: [1, 2] }],
    ['inserts before the end of a list', { l: [1, 2] }, [{ op: 'add', path: '/l/-1', value: 3 }], { l: [1, 2, 3] }],
    ['removes a list item from the end', { l: [1, 2] }, [{ op: 'remove', path: '/l/-1' }], { l: [1] }],
    ['replaces a value', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: [] }], { a: { b: [] } }],
    ['sets a missing field with replace', {}, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
    ['moves a value', { a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/c' }], { a: {}, c: 1 }],
    ['unescapes names', { 'a/b': { '~c': 1 } }, [{ op: 'remove', path: '/a~1b/~0c' }], { 'a/b': {} }],
    [
      'continues after a successful test',
      { a: { b: [1] } },
      [{ op: 'test', path: '/a', value: { b: [1] } }],
      { a: { b: [1] } },
    ],
    ['treats a missing value as null in a test', {}, [{ op: 'test', path: '/a', value: null }], {}],
    ['copies a missing field as null', { a: {} }, [{ op: 'copy', from: '/a/b', path: '/c' }], { a: {}, c: null }],
    ['ignores everything before the first slash', {}, [{ op: 'add', path: 'x/a', value: 1 }], { a: 1 }],
    ['replaces the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
  ]
  for (const [name, document, operations, expected] of cases) {
    it(name, () => {
      expect(patch(document, ...operations)).toEqual(expected)
    })
  }

  it('does not share values between copies', () => {
    const result = patch({ a: { x: 1 } }, { op: 'copy', from: '/a', path: '/b' }, { op: 'add', path: '/b/y', value: 2 })
    expect(result).toEqual({ a: { x: 1 }, b: { x: 1, y: 2 } })
  })

  const failures: [string, JsonObject, JsonObject[]][] = [
    ['a test that fails', { a: 1 }, [{ op: 'test', path: '/a', value: 2 }]],
    ['removing a missing value', {}, [{ op: 'remove', path: '/a' }]],
    ['adding below a missing value', {}, [{ op: 'add', path: '/a/b', value: 1 }]],
    ['adding below a scalar', { a: 1 }, [{ op: 'add', path: '/a/b', value: 1 }]],
    ['an index beyond the list', { l: [] }, [{ op: 'add', path: '/l/1', value: 1 }]],
    ['an index that is not a number', { l: [1] }, [{ op: 'replace', path: '/l/x', value: 1 }]],
    ['an unknown operation', {}, [{ op: 'merge', path: '/a' }]],
    ['a pointer without slash', { a: 1 }, [{ op: 'remove', path: 'a' }]],
    ['moving a value into itself', { a: { b: 1 } }, [{ op: 'move', from: '/a', path: '/a/b/c' }]],
    ['a document that is not an object', {}, [{ op: 'replace', path: '', value: [] }]],
    ['an inherited property', {}, [{ op: 'add', path: '/constructor/prototype', value: 1 }]],
  ]
  for (const [name, document, operations] of failures) {
    it(`rejects ${name}`, () => {
      expect(() => patch(document, ...operations)).toThrow(rejected)
    })
  }

  it('rejects anything that is not a list of operations, like the decoder', () => {
    expect(() => applyJsonPatch({}, { op: 'add' })).toThrow(
      'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp',
    )
    expect(() => applyJsonPatch({}, [1])).toThrow(
      'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp',
    )
  })

  it('rejects more than ten thousand operations', () => {
    const operations = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a', value: 1 }))
    expect(() => applyJsonPatch({ a: 1 }, operations)).toThrow(expect.objectContaining({ code: 413 }))
    expect(applyJsonPatch({ a: 1 }, operations.slice(1))).toEqual({ a: 1 })
  })

  it('rejects copies that grow exponentially', () => {
    const double = Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '/a', path: `/a/${index}x` }))
    expect(() => applyJsonPatch({ a: { text: 'x'.repeat(1000) } }, double)).toThrow(rejected)
  })

  it('does not replace a prototype', () => {
    const result = patch({ a: {} }, { op: 'add', path: '/a/__proto__', value: { polluted: true } })
    expect(Object.getPrototypeOf(result.a)).toBe(Object.prototype)
    expect(JSON.stringify(result)).toBe('{"a":{"__proto__":{"polluted":true}}}')
  })

  it('transforms one document into another with a patch computed by a library, with the same result', () => {
    const json = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
      value: fc.oneof(
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value')),
        tie('object'),
      ),
      object: fc.dictionary(fc.stringMatching(/^[a-d~/]{1,2}$/), tie('value')),
    })).object
    fc.assert(
      fc.property(json, json, (from, to) => {
        const operations = createPatch(from, to)
        const result = applyJsonPatch(from, JSON.parse(JSON.stringify(operations)))
        expect(result).toEqual(to)
        const copy: JsonValue = structuredClone(from)
        applyPatch(copy, operations as Operation[])
        expect(result).toEqual(copy)
      }),
    )
  })

  it('shares unchanged parts', () => {
    const document = { kept: { deep: [1] }, changed: { a: 1 } }
    expect(patch(document, { op: 'add', path: '/changed/b', value: 1 }).kept).toBe(document.kept)
  })
})
