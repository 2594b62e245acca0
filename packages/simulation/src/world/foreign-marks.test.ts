import { describe, expect, it } from 'vitest'
import { at, leaves, withValue } from './foreign-marks.ts'

describe('paths into objects', () => {
  it('leaves names every value of a patch, lists as a whole', () => {
    expect(leaves({ spec: { replicas: 3, ports: [1, 2] }, kind: 'A' })).toEqual([
      ['spec', 'replicas'],
      ['spec', 'ports'],
      ['kind'],
    ])
  })

  it('at reads a value, and nothing where the way ends', () => {
    expect(at({ spec: { replicas: 3 } }, ['spec', 'replicas'])).toBe(3)
    expect(at({ spec: 'text' }, ['spec', 'replicas'])).toBeUndefined()
  })

  it('withValue replaces, adds and removes without touching the original', () => {
    const object = { spec: { replicas: 3 } }
    expect(withValue(object, ['spec', 'replicas'], 4)).toEqual({ spec: { replicas: 4 } })
    expect(withValue(object, ['spec', 'paused'], true)).toEqual({ spec: { replicas: 3, paused: true } })
    expect(withValue(object, ['spec', 'replicas'], undefined)).toEqual({ spec: {} })
    expect(object).toEqual({ spec: { replicas: 3 } })
  })
})
