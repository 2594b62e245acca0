import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  differenceOf,
  emptyFieldSet,
  equalFieldSets,
  type FieldSet,
  fieldSetOf,
  hasPath,
  intersectionOf,
  isEmptyFieldSet,
  pathsOf,
  recursiveDifferenceOf,
  unionOf,
} from './field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.ts'

const element = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"name":"x"}', 'v:"y"', 'i:0')
const path = fc.array(element, { minLength: 1, maxLength: 4 })
const fieldSet = fc.array(path, { maxLength: 12 }).map(fieldSetOf)

/** The members as strings: the tree is checked against sets of strings as a model. */
function members(set: FieldSet): string[] {
  return [...pathsOf(set)].map((path) => path.join('/')).sort()
}

describe('field sets', () => {
  it('contain the members they were created from', () => {
    fc.assert(
      fc.property(fc.array(path), (paths) => {
        const set = fieldSetOf(paths)
        expect(members(set)).toEqual([...new Set(paths.map((one) => one.join('/')))].sort())
        for (const one of paths) expect(hasPath(set, one)).toBe(true)
      }),
    )
  })

  it('satisfy the laws of sets', () => {
    fc.assert(
      fc.property(fieldSet, fieldSet, fieldSet, (a, b, c) => {
        const same = (left: FieldSet, right: FieldSet) => expect(equalFieldSets(left, right)).toBe(true)
        same(unionOf(a, b), unionOf(b, a))
        same(unionOf(a, unionOf(b, c)), unionOf(unionOf(a, b), c))
        same(unionOf(a, a), a)
        same(unionOf(a, emptyFieldSet), a)
        same(intersectionOf(a, b), intersectionOf(b, a))
        same(intersectionOf(a, unionOf(b, c)), unionOf(intersectionOf(a, b), intersectionOf(a, c)))
        same(differenceOf(a, b), differenceOf(a, intersectionOf(a, b)))
        same(unionOf(differenceOf(a, b), intersectionOf(a, b)), a)
        same(differenceOf(a, unionOf(b, c)), differenceOf(differenceOf(a, b), c))
        expect(isEmptyFieldSet(differenceOf(a, a))).toBe(true)
        expect(isEmptyFieldSet(intersectionOf(differenceOf(a, b), b))).toBe(true)
      }),
    )
  })

  it('behave like plain sets of paths', () => {
    fc.assert(
      fc.property(fieldSet, fieldSet, (a, b) => {
        const [left, right] = [new Set(members(a)), new Set(members(b))]
        expect(members(unionOf(a, b))).toEqual([...new Set([...left, ...right])].sort())
        expect(members(intersectionOf(a, b))).toEqual([...left].filter((one) => right.has(one)).sort())
        expect(members(differenceOf(a, b))).toEqual([...left].filter((one) => !right.has(one)).sort())
        const isBelow = (one: string) => [...right].some((other) => one === other || one.startsWith(`${other}/`))
        expect(members(recursiveDifferenceOf(a, b))).toEqual([...left].filter((one) => !isBelow(one)).sort())
      }),
    )
  })

  it('are unchanged after encoding as fieldsV1 and decoding', () => {
    fc.assert(
      fc.property(fieldSet, (set) => {
        const encoded = encodeFieldsV1(set)
        expect(equalFieldSets(decodeFieldsV1(encoded), set)).toBe(true)
        expect(encodeFieldsV1(decodeFieldsV1(JSON.parse(JSON.stringify(encoded))))).toEqual(encoded)
      }),
    )
  })
})

describe('fieldsV1', () => {
  it('marks a member that has members below it with a dot', () => {
    expect(encodeFieldsV1(fieldSetOf([['f:a'], ['f:a', 'f:b'], ['f:c', 'f:d']]))).toEqual({
      'f:a': { '.': {}, 'f:b': {} },
      'f:c': { 'f:d': {} },
    })
  })

  it('treats keys in any order and spelling as the same item', () => {
    const set = decodeFieldsV1({ 'f:ports': { 'k:{"protocol": "TCP","port":80.0}': {} } })
    expect(hasPath(set, ['f:ports', 'k:{"port":80,"protocol":"TCP"}'])).toBe(true)
  })

  it('skips unknown kinds of path elements', () => {
    expect(encodeFieldsV1(decodeFieldsV1({ 'x:y': {}, 'f:a': {} }))).toEqual({ 'f:a': {} })
  })

  it('rejects keys that are not path elements', () => {
    for (const key of ['a', 'k:[1]', 'k:{', 'v:', 'i:x']) {
      expect(() => decodeFieldsV1({ [key]: {} })).toThrow(/not a path element/)
    }
    expect(() => decodeFieldsV1({ 'f:a': 'x' })).toThrow(/not a path element/)
  })
})
