import { describe, expect, test } from 'vitest'
import { formatLabelSelector, matchLabelSelector, parseLabelSelector } from './label-selector.ts'

const labels = { app: 'web', tier: 'front', size: '10' }

describe('a selector in a query string', () => {
  test.each([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app=web,tier!=back', true],
    ['app!=web', false],
    ['missing!=x', true],
    ['app in (web, api)', true],
    ['app in (api)', false],
    ['app notin (api),tier in (front)', true],
    ['missing notin (a)', true],
    ['app', true],
    ['missing', false],
    ['!missing', true],
    ['!app', false],
    ['size>9', true],
    ['size<9', false],
    ['app>1', false],
    ['app=', false],
    ['example.com/x=', false],
  ])('%j matches: %s', (selector, isSelected) => {
    expect(parseLabelSelector(selector)(labels)).toBe(isSelected)
  })

  test.each(['a=b=c', 'a in b', ',', 'app=web,', 'in (a)', 'a b', 'size>x', '-a', 'a=-'])(
    '%j is rejected with a 400',
    (selector) => {
      expect(() => parseLabelSelector(selector)).toThrow(expect.objectContaining({ code: 400, reason: 'BadRequest' }))
    },
  )
})

describe('a LabelSelector object', () => {
  test('requires every label and every expression to match', () => {
    const selector = {
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['front', 'back'] },
        { key: 'gone', operator: 'DoesNotExist' },
        { key: 'size', operator: 'Exists' },
        { key: 'app', operator: 'NotIn', values: ['api'] },
      ],
    }
    expect(matchLabelSelector(selector)(labels)).toBe(true)
    expect(matchLabelSelector(selector)({ ...labels, gone: 'x' })).toBe(false)
    expect(matchLabelSelector({})(labels)).toBe(true)
  })

  test('with an unknown operator matches nothing', () => {
    expect(matchLabelSelector({ matchExpressions: [{ key: 'a', operator: 'Near' }] })(labels)).toBe(false)
  })

  test('is formatted for a query string', () => {
    const selector = {
      matchLabels: { b: '2', a: '1' },
      matchExpressions: [{ key: 'c', operator: 'In', values: ['y', 'x'] }],
    }
    expect(formatLabelSelector(selector)).toBe('a=1,b=2,c in (x,y)')
    expect(formatLabelSelector(undefined)).toBe('')
  })
})
