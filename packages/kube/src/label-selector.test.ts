/** Formatting and evaluation of selectors. */
import { describe, expect, it } from 'vitest'
import { formatFieldSelector, formatLabelSelector, matchesLabels } from './label-selector.ts'

describe('label selectors', () => {
  const selector = {
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['a', 'b'] },
      { key: 'env', operator: 'NotIn', values: ['dev'] },
      { key: 'owner', operator: 'Exists' },
      { key: 'canary', operator: 'DoesNotExist' },
    ],
  } as const

  it('formats every operator', () => {
    expect(formatLabelSelector(selector)).toBe('app=web,tier in (a,b),env notin (dev),owner,!canary')
    expect(formatLabelSelector({})).toBe('')
  })

  it('matches when every part matches', () => {
    const labels = { app: 'web', tier: 'b', owner: 'me' }
    expect(matchesLabels(selector, labels)).toBe(true)
    expect(matchesLabels(selector, { ...labels, app: 'other' })).toBe(false)
    expect(matchesLabels(selector, { ...labels, tier: 'c' })).toBe(false)
    expect(matchesLabels(selector, { ...labels, env: 'dev' })).toBe(false)
    expect(matchesLabels(selector, { ...labels, canary: '' })).toBe(false)
    expect(matchesLabels(selector, { app: 'web', tier: 'a' })).toBe(false)
  })

  it('matches everything when empty, and nothing inherited from Object', () => {
    expect(matchesLabels({}, undefined)).toBe(true)
    expect(matchesLabels({ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, {})).toBe(false)
  })

  it('escapes values of field selectors', () => {
    expect(formatFieldSelector({ 'metadata.name': 'a', 'spec.x': 'b,c=d\\e' })).toBe(
      'metadata.name=a,spec.x=b\\,c\\=d\\\\e',
    )
  })
})
