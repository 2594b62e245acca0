import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SettingsObject } from './settings.ts'
import { querySettings } from './settings-query.ts'

const object = (index: number, value: object = {}): SettingsObject => ({
  objectId: `object-${index}`,
  schemaId: index % 2 === 0 ? 'even' : 'odd',
  schemaVersion: '1',
  scope: `scope-${index % 3}`,
  value: { ...value },
  modifiedMs: 0,
})
const query = (text: string) => new URLSearchParams(text)

test('following the keys from page to page finds every object once, whatever the page size', () => {
  fc.assert(
    fc.property(fc.nat(30), fc.integer({ min: 1, max: 12 }), (count, pageSize) => {
      const objects = Array.from({ length: count }, (_none, index) => object(index))
      const found: unknown[] = []
      let next: URLSearchParams | undefined = query(`schemaIds=even,odd&pageSize=${pageSize}`)
      while (next !== undefined) {
        const page = querySettings(objects, next)
        expect(page.totalCount).toBe(count)
        found.push(...page.items.map(({ objectId }) => objectId))
        next = page.nextPageKey === undefined ? undefined : new URLSearchParams({ nextPageKey: page.nextPageKey })
      }
      expect(found).toEqual(objects.map(({ objectId }) => objectId))
    }),
  )
})

test.each([
  ["value.name = 'x'", ['object-0']],
  ["value.name='x' and value.ns = 'y'", []],
  ["value.name = 'it\\'s' and value.ns='y'", ['object-1']],
  ["value.deep.name = 'z'", ['object-2']],
  ["value.nothing.at = 'z'", []],
])('the filter %s selects by equality', (filter, expected) => {
  const objects = [object(0, { name: 'x' }), object(1, { name: "it's", ns: 'y' }), object(2, { deep: { name: 'z' } })]
  const page = querySettings(objects, new URLSearchParams({ schemaIds: 'even,odd', filter }))
  expect(page.items.map(({ objectId }) => objectId)).toEqual(expected)
})

test.each([
  '',
  'schemaIds=even&pageSize=0',
  'schemaIds=even&pageSize=many',
  'schemaIds=even&filter=value.x>1',
  'nextPageKey=WzEsMl0',
])('the query %j is refused', (text) => {
  expect(() => querySettings([], query(text))).toThrow()
})

test('a page is never larger than 500', () => {
  expect(querySettings([], query('schemaIds=even&pageSize=9999')).pageSize).toBe(500)
})
