import { anything, assert, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { metadataProblems, objectProblems } from './object-problems.ts'

const object = (metadata: unknown) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
const fields = (value: unknown) => objectProblems(value).map(({ field }) => field)

describe('the problems of an object', () => {
  it('are none for an object with valid metadata', () => {
    const metadata = {
      name: 'a',
      namespace: 'b',
      labels: { constructor: 'x' },
      annotations: null,
      finalizers: ['x'],
      ownerReferences: [{ uid: '1' }],
    }
    expect(objectProblems(object(metadata))).toEqual([])
    expect(objectProblems(object({}))).toEqual([])
  })

  it('name every field of the wrong type', () => {
    const metadata = { name: 5, labels: { a: 1, b: 'c' }, annotations: [], finalizers: [1], ownerReferences: 'x' }
    expect(fields({ kind: '', metadata })).toEqual([
      'apiVersion',
      'kind',
      'metadata.name',
      'metadata.labels[a]',
      'metadata.annotations',
      'metadata.finalizers[0]',
      'metadata.ownerReferences',
    ])
  })

  it('ignore inherited fields', () => {
    expect(fields(Object.create(object({})))).toEqual(['apiVersion', 'kind', 'metadata'])
  })

  it('are at most ten', () => {
    const labels = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`label-${index}`, index]))
    expect(metadataProblems({ labels })).toHaveLength(10)
  })

  it('can be listed for any value', () => {
    assert(property(anything(), (value) => void objectProblems(value)))
    assert(property(anything(), (value) => void objectProblems(object(value))))
  })
})
