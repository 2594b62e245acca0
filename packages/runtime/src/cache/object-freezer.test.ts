import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ObjectFreezer } from './object-freezer.ts'

test('freezes every level, arrays included', () => {
  const object = { spec: { containers: [{ env: [{ name: 'A' }] }] }, nothing: null }
  expect(new ObjectFreezer().freeze(object)).toBe(object)
  expect(Object.isFrozen(object.spec.containers[0]?.env[0])).toBe(true)
  expect(() => Object.assign(object.spec, { containers: [] })).toThrow(TypeError)
})

test('changes no value, however small its memory for strings', () => {
  fc.assert(
    fc.property(fc.array(fc.object()), fc.integer({ min: 1, max: 5 }), (objects, maxStrings) => {
      const freezer = new ObjectFreezer(maxStrings)
      for (const object of objects) {
        const before = structuredClone(object)
        expect(freezer.freeze(object)).toEqual(before)
      }
    }),
  )
})

test('does not touch frozen values', () => {
  const shared = Object.freeze({ text: 'a string that is long enough' })
  expect(new ObjectFreezer().freeze({ shared }).shared).toBe(shared)
})
