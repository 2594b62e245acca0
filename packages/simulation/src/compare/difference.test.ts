import { expect, it } from 'vitest'
import { changedEntries, differences, formatDifference } from './difference.ts'

it('a difference names objects that only one run has, and each field that differs', () => {
  const expected = new Map([
    ['services default/a', { spec: { ports: [{ port: 80 }], type: 'ClusterIP' } }],
    ['services default/gone', {}],
  ])
  const actual = new Map([
    ['services default/a', { spec: { ports: [{ port: 81 }], type: 'ClusterIP' }, extra: true }],
    ['services default/new', {}],
  ])
  expect(differences(expected, actual).map(formatDifference)).toEqual([
    'services default/a extra: absent undisturbed, true disturbed',
    'services default/a spec.ports[0].port: 80 undisturbed, 81 disturbed',
    'services default/gone: exists only in the undisturbed run',
    'services default/new: exists only in the disturbed run',
  ])
})

it('a difference names the finalizers of what still exists', () => {
  const stuck = new Map([['databases.acme.io default/orders', { metadata: { finalizers: ['acme.io/cleanup'] } }]])
  expect(differences(new Map(), stuck).map(formatDifference)).toEqual([
    'databases.acme.io default/orders: exists only in the disturbed run, with the finalizers acme.io/cleanup',
  ])
})

it('there is no difference between equals', () => {
  expect(differences(new Map([['a b', { c: [1] }]]), new Map([['a b', { c: [1] }]]))).toEqual([])
})

it('a difference takes a map that came or went entry by entry', () => {
  expect(changedEntries({ labels: { a: '1' }, list: [1] }, { notes: { b: '2' }, empty: {}, list: [2] })).toEqual([
    { field: 'labels.a', before: '1', after: undefined },
    { field: 'list[0]', before: 1, after: 2 },
    { field: 'notes.b', before: undefined, after: '2' },
  ])
})
