import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldDiff } from './field-diff.ts'

describe('the difference between two objects', () => {
  it('names fields down to the values that differ', () => {
    const before = { spec: { replicas: 1, paused: true }, data: { a: '1' } }
    const after = { spec: { replicas: 2 }, data: { a: '1', 'b.txt': '2' } }
    expect(fieldDiff(before, after)).toEqual([
      { path: 'spec.replicas', before: 1, after: 2 },
      { path: 'spec.paused', before: true },
      { path: 'data[b.txt]', after: '2' },
    ])
  })

  it('names fields that are called like those of every JavaScript object', () => {
    const named = JSON.parse('{"labels":{"constructor":"a","__proto__":"b"}}') as object
    expect(fieldDiff({ labels: {} }, named)).toEqual([
      { path: 'labels.constructor', after: 'a' },
      { path: 'labels.__proto__', after: 'b' },
    ])
  })

  it('matches items of lists by their names', () => {
    const item = (name: string, value: string) => ({ name, value })
    expect(fieldDiff({ env: [item('b', '1')] }, { env: [item('a', '0'), item('b', '2')] })).toEqual([
      { path: 'env[name=b].value', before: '1', after: '2' },
      { path: 'env[name=a]', after: item('a', '0') },
    ])
  })

  it('distinguishes mounts of one volume by their paths', () => {
    const mount = (mountPath: string, readOnly: boolean) => ({ name: 'host', mountPath, readOnly })
    expect(fieldDiff([mount('/a', true), mount('/b', true)], [mount('/a', true), mount('/b', false)])).toEqual([
      { path: '[mountPath=/b].readOnly', before: true, after: false },
    ])
  })

  it('shows which texts of a list came and went', () => {
    expect(fieldDiff({ args: ['--a', '--b=1'] }, { args: ['--a', '--b=2'] })).toEqual([
      { path: 'args[]', before: '--b=1' },
      { path: 'args[]', after: '--b=2' },
    ])
  })

  it('shows a list as a whole when only its order differs', () => {
    expect(fieldDiff({ args: ['a', 'b'] }, { args: ['b', 'a'] })).toEqual([
      { path: 'args', before: ['a', 'b'], after: ['b', 'a'] },
    ])
  })

  it('goes into maps that are new, and shows empty ones as they are', () => {
    expect(fieldDiff({}, { labels: { a: '1', b: '2' } })).toEqual([
      { path: 'labels.a', after: '1' },
      { path: 'labels.b', after: '2' },
    ])
    expect(fieldDiff({}, { emptyDir: {} })).toEqual([{ path: 'emptyDir', after: {} }])
  })

  it('is empty exactly for values that are the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const isSame = JSON.stringify(left) === JSON.stringify(right)
        expect(fieldDiff(left, left)).toEqual([])
        if (fieldDiff(left, right).length === 0) expect(sorted(left)).toEqual(sorted(right))
        else expect(isSame).toBe(false)
      }),
    )
  })
})

/** The order of fields does not matter. */
const sorted = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
