import { describe, expect, it } from 'vitest'
import type { PlainObject } from '../operator-under-test.ts'
import { ChosenValues } from './chosen-values.ts'
import { differences } from './difference.ts'
import type { Snapshot } from './snapshot.ts'

const owner = { ownerReferences: ['controller Box gift'] }
const snapshot = (suffix: string, password: string, extra: Record<string, PlainObject> = {}): Snapshot =>
  new Map<string, PlainObject>(
    Object.entries({
      [`configmaps default/gift-${suffix}`]: { metadata: { name: `gift-${suffix}`, ...owner }, data: { a: '1' } },
      'boxes.example.com default/gift': { status: { child: `gift-${suffix}` } },
      'secrets default/login': { data: { user: 'me', password } },
      ...extra,
    }),
  )

const chosen = ChosenValues.learn([snapshot('k3j2s', 'one')], [snapshot('x9f8a', 'two')])
const apply = (one: Snapshot, other: Snapshot) => differences(chosen.apply(one), chosen.apply(other))

describe('what is drawn in every run', () => {
  it('makes no difference: names, references to them, and values', () => {
    expect(apply(snapshot('aaaaa', 'x'), snapshot('bbbbb', 'y'))).toEqual([])
    expect(chosen.idOf('configmaps default/gift-zzzzz')).toBe('configmaps default/gift-<generated>')
  })

  it('shows when there is one object too many', () => {
    const second = { 'configmaps default/gift-ccccc': { metadata: { name: 'gift-ccccc', ...owner }, data: { a: '1' } } }
    expect(apply(snapshot('aaaaa', 'x'), snapshot('bbbbb', 'y', second)).map(({ object }) => object)).toEqual([
      'configmaps default/gift-<generated 2>',
    ])
  })

  it('shows when a reference leads to another object', () => {
    const wrong = { 'boxes.example.com default/gift': { status: { child: 'gift-other' } } }
    expect(apply(snapshot('aaaaa', 'x'), snapshot('bbbbb', 'y', wrong))).toHaveLength(1)
  })

  it('shows when a value that is always there is missing', () => {
    const missing = { 'secrets default/login': { data: { user: 'me' } } }
    expect(apply(snapshot('aaaaa', 'x'), snapshot('bbbbb', 'y', missing)).map(({ field }) => field)).toEqual([
      'data.password',
    ])
  })
})

describe('what is the same in every run', () => {
  it('still counts, also beside a generated name', () => {
    const fixed = { 'configmaps default/gift-main': { metadata: { name: 'gift-main', ...owner } } }
    const both = ChosenValues.learn([snapshot('k3j2s', 'x', fixed)], [snapshot('x9f8a', 'x', fixed)])
    expect(both.idOf('configmaps default/gift-main')).toBe('configmaps default/gift-main')
    const found = differences(both.apply(snapshot('a1', 'x', fixed)), both.apply(snapshot('b2', 'x')))
    expect(found.map(({ object }) => object)).toEqual(['configmaps default/gift-main'])
  })

  it('is never taken for drawn when the numbers differ', () => {
    const one = new Map([['configmaps default/a', {}]])
    const other = new Map<string, object>([
      ['configmaps default/b', {}],
      ['configmaps default/c', {}],
    ])
    expect(ChosenValues.learn([one], [other as Snapshot]).idOf('configmaps default/a')).toBe('configmaps default/a')
  })
})
