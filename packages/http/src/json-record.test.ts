import { describe, expect, it } from 'vitest'
import { ownValue } from './json-record.ts'

describe('an entry of a table', () => {
  it('is never an inherited property', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(ownValue<unknown>({}, name)).toBeUndefined()
      expect(ownValue<unknown>(JSON.parse(`{"${name}":1}`), name)).toBe(1)
    }
    expect(ownValue(undefined, 'a')).toBeUndefined()
  })
})
