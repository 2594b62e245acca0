import { expect, test } from 'vitest'
import { exactObject, withoutField } from './exact-object.ts'

test('objects are plain, whatever their number of properties', () => {
  for (const count of [0, 1, 16, 17, 1_000]) {
    const object = exactObject(count)
    expect(object).toStrictEqual({})
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
  }
})

test('leaves out one field and keeps the order of the others', () => {
  const object = { name: 'web', managedFields: [], uid: '1' }
  expect(JSON.stringify(withoutField(object, 'managedFields'))).toBe('{"name":"web","uid":"1"}')
  expect(object.managedFields).toEqual([])
})

test('copies a key that could change the prototype as a key', () => {
  const copy = withoutField(JSON.parse('{"__proto__":{"isAdmin":true},"a":1,"b":2}'), 'a')
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  expect(JSON.stringify(copy)).toBe('{"__proto__":{"isAdmin":true},"b":2}')
})
