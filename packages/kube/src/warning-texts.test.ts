import { expect, it } from 'vitest'
import { warningTexts } from './warning-texts.ts'

it('warnings are read from repeated headers, joined headers and with escaped quotes', () => {
  expect(warningTexts({ warning: ['299 - "v1beta1 is deprecated"', '299 - "unknown field \\"spec.x\\""'] })).toEqual([
    'v1beta1 is deprecated',
    'unknown field "spec.x"',
  ])
  expect(warningTexts({ warning: '299 - "a, b", 299 - "c"' })).toEqual(['a, b', 'c'])
  expect(warningTexts({ warning: '110 - "stale"' })).toEqual([])
  expect(warningTexts({})).toEqual([])
})
