import { expect, it } from 'vitest'
import { differences, formatDifference } from './difference.ts'

it('names missing objects, unexpected objects and each field that differs', () => {
  const expected = new Map([
    ['services default/a', { spec: { ports: [{ port: 80 }], type: 'ClusterIP' } }],
    ['services default/gone', {}],
  ])
  const actual = new Map([
    ['services default/a', { spec: { ports: [{ port: 81 }], type: 'ClusterIP' }, extra: true }],
    ['services default/new', {}],
  ])
  expect(differences(expected, actual).map(formatDifference)).toEqual([
    'services default/a extra: true instead of absent',
    'services default/a spec.ports[0].port: 81 instead of 80',
    'services default/gone is missing',
    'services default/new exists and should not',
  ])
})

it('finds nothing between equals', () => {
  expect(differences(new Map([['a b', { c: [1] }]]), new Map([['a b', { c: [1] }]]))).toEqual([])
})
