import fc from 'fast-check'
import { applyPatch } from 'rfc6902'
import { expect, test } from 'vitest'
import { jsonDiff, plainJsonDiff } from './json-diff.ts'

function applied(before: unknown, after: unknown): unknown {
  const holder = { root: structuredClone(before) }
  const operations = jsonDiff(before, after).map((operation) => ({ ...operation, path: `/root${operation.path}` }))
  expect(applyPatch(holder, structuredClone(operations) as never)).toEqual(operations.map(() => null))
  return holder.root
}

test('for any two values, the patch turns one into the other, and equal values need none', () => {
  // Few distinct keys and values, so that the two resemble each other often.
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, 0, 1, 'a', 'b'),
      fc.array(tie('value'), { maxLength: 6 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'a/b', '~', '~1', ''), tie('value'), { maxKeys: 5 }),
    ),
  }))
  fc.assert(
    fc.property(value, value, (before, after) => {
      expect(applied(before, after)).toEqual(after)
      expect(jsonDiff(before, before)).toEqual([])
    }),
    { numRuns: 500 },
  )
})

test('one element added to a list, or removed from it, is one operation', () => {
  const list = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]
  expect(jsonDiff(list, list.toSpliced(1, 0, { name: 'new' }))).toEqual([
    { op: 'add', path: '/1', value: { name: 'new' } },
  ])
  expect(jsonDiff(list, list.toSpliced(1, 1))).toEqual([{ op: 'remove', path: '/1' }])
  expect(jsonDiff(list, list.with(1, { name: 'z' }))).toEqual([{ op: 'replace', path: '/1/name', value: 'z' }])
})

test('fields that are undefined are absent', () => {
  expect(jsonDiff({ a: 1, b: undefined }, { a: undefined, b: undefined })).toEqual([{ op: 'remove', path: '/a' }])
})

test('a list that becomes an object is replaced as a whole', () => {
  expect(jsonDiff({ x: [1] }, { x: { a: 1 } })).toEqual([{ op: 'replace', path: '/x', value: { a: 1 } }])
})

test('a changed copy is compared only where it differs from the original', () => {
  const untouched = new Proxy({ replicas: 1 }, { ownKeys: () => expect.unreachable('the shared part is compared') })
  const before = { metadata: { labels: { a: '1' } }, spec: untouched }
  const after = { ...before, metadata: { labels: { a: '1', b: '2' }, name: undefined } }
  expect(plainJsonDiff(before, after)).toEqual([{ op: 'add', path: '/metadata/labels/b', value: '2' }])
})
