import type { ObjectMeta, Stored } from '@reeve/kube'
import { expect, test } from 'vitest'
import { type Widget, widget } from '../testing/fake-objects.ts'
import { annotationsChanged, anyOf, generationChanged, labelsChanged, type Predicate } from './predicates.ts'

function stored(metadata: ObjectMeta): Stored<Widget> {
  const base = widget('a')
  return {
    ...base,
    metadata: { ...base.metadata, uid: 'u', resourceVersion: '1', creationTimestamp: '', name: 'a', ...metadata },
  }
}

const update = (before: ObjectMeta, after: ObjectMeta) => ({
  type: 'modified' as const,
  previous: stored(before),
  object: stored(after),
})

const always: Predicate = () => true
const never: Predicate = () => false

test('creations and deletions pass every one of them', () => {
  for (const predicate of [generationChanged, labelsChanged, annotationsChanged]) {
    expect(predicate({ type: 'added', object: stored({}) })).toBe(true)
    expect(predicate({ type: 'deleted', object: stored({}) })).toBe(true)
  }
})

test.each([
  ['the same generation', { generation: 1 }, { generation: 1 }, false],
  ['a new generation', { generation: 1 }, { generation: 2 }, true],
  ['the begin of a deletion', { generation: 1 }, { generation: 1, deletionTimestamp: 'now' }, true],
  ['a kind without generations', {}, {}, true],
])('generationChanged on %s', (_, before, after, expected) => {
  expect(generationChanged(update(before, after))).toBe(expected)
})

test.each([
  ['equal maps', { a: '1', b: '2' }, { b: '2', a: '1' }, false],
  ['none and empty', undefined, {}, false],
  ['another value', { a: '1' }, { a: '2' }, true],
  ['one more', { a: '1' }, { a: '1', b: '2' }, true],
  ['one less', { a: '1' }, undefined, true],
  ['another key with the same number', { a: '1' }, { b: '1' }, true],
])('labelsChanged and annotationsChanged on %s', (_, before, after, expected) => {
  expect(labelsChanged(update({ ...(before && { labels: before }) }, { ...(after && { labels: after }) }))).toBe(
    expected,
  )
  const annotated = update({ ...(before && { annotations: before }) }, { ...(after && { annotations: after }) })
  expect(annotationsChanged(annotated)).toBe(expected)
})

test('predicates combine', () => {
  const change = update({}, {})
  expect(anyOf(never, always)(change)).toBe(true)
  expect(anyOf(never, never)(change)).toBe(false)
})
