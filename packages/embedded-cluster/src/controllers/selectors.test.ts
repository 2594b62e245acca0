import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LabelSelector } from './kinds/meta.ts'
import { SelectorIndex, selects } from './selectors.ts'

describe('a label selector', () => {
  const cases: [
    what: string,
    selector: LabelSelector | undefined,
    labels: Record<string, string>,
    expected: boolean,
  ][] = [
    ['that is empty matches everything', {}, {}, true],
    ['that is absent matches nothing', undefined, { a: '1' }, false],
    ['with labels requires all of them', { matchLabels: { a: '1', b: '2' } }, { a: '1' }, false],
    [
      'In requires one of the values',
      { matchExpressions: [{ key: 'a', operator: 'In', values: ['1', '2'] }] },
      { a: '2' },
      true,
    ],
    ['In requires the label', { matchExpressions: [{ key: 'a', operator: 'In', values: ['1'] }] }, {}, false],
    [
      'NotIn matches without the label',
      { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['1'] }] },
      {},
      true,
    ],
    ['Exists accepts any value', { matchExpressions: [{ key: 'a', operator: 'Exists' }] }, { a: '' }, true],
    ['DoesNotExist accepts none', { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, { a: '' }, false],
    ['Gt compares numbers', { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['9'] }] }, { a: '10' }, true],
    ['Lt compares numbers', { matchExpressions: [{ key: 'a', operator: 'Lt', values: ['9'] }] }, { a: '10' }, false],
    [
      'with an unknown operator matches nothing',
      { matchExpressions: [{ key: 'a', operator: 'Like' }] },
      { a: '1' },
      false,
    ],
  ]
  for (const [what, selector, labels, expected] of cases) {
    it(what, () => {
      expect(selects(selector, labels)).toBe(expected)
    })
  }
})

it('the index finds exactly the selectors that match, after any changes', () => {
  const key = fc.constantFrom('a', 'b')
  const value = fc.constantFrom('1', '2')
  const labels = fc.dictionary(key, value, { maxKeys: 2 })
  const requirement = fc.record({
    key,
    operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
    values: fc.uniqueArray(value, { minLength: 1 }),
  })
  const selector = fc.record(
    { matchLabels: labels, matchExpressions: fc.array(requirement, { maxLength: 2 }) },
    { requiredKeys: [] },
  )
  const namespace = fc.constantFrom('x', 'y')
  const entry = fc.record({
    namespace,
    name: fc.constantFrom('p', 'q', 'r'),
    selector: fc.option(selector, { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 12 }), namespace, labels, (entries, place, wanted) => {
      const index = new SelectorIndex()
      const last = new Map<string, (typeof entries)[number]>()
      for (const set of entries) {
        index.set(set.namespace, `${set.namespace}/${set.name}`, set.selector)
        last.set(`${set.namespace}/${set.name}`, set)
      }
      const expected = [...last].filter(([, set]) => set.namespace === place && selects(set.selector, wanted))
      expect(index.matching(place, wanted).sort()).toEqual(expected.map(([id]) => id).sort())
    }),
  )
})
