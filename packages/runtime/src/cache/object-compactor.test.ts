import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ObjectCompactor } from './object-compactor.ts'

test('freezes every level, arrays included', () => {
  const object = { spec: { containers: [{ env: [{ name: 'A' }] }] }, nothing: null }
  const compact = new ObjectCompactor().compact(object)
  expect(compact).toBe(object)
  expect(Object.isFrozen(object.spec.containers[0]?.env[0])).toBe(true)
  expect(() => Object.assign(object.spec, { containers: [] })).toThrow(TypeError)
})

test('changes no value, however small its memory for strings', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 1, max: 5 }), (values, maxStrings) => {
      const compactor = new ObjectCompactor(maxStrings)
      for (const value of values) {
        const before = structuredClone(value)
        expect(compactor.compact(value)).toEqual(before)
      }
    }),
  )
})

test('does not touch frozen values', () => {
  const shared = Object.freeze({ text: 'a string that is long enough' })
  expect(new ObjectCompactor().compact({ shared }).shared).toBe(shared)
})
