import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalQuantity } from './quantity.ts'

describe('a quantity', () => {
  it.each([
    ['1Gi', '1Gi'],
    ['1024Mi', '1Gi'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['1500m', '1500m'],
    ['1000', '1k'],
    ['0', '0'],
    ['0Gi', '0'],
    ['0.5Gi', '512Mi'],
    ['1.5Gi', '1536Mi'],
    ['512Ki', '512Ki'],
    ['1e3', '1e3'],
    ['1000e-3', '1'],
    ['-1000m', '-1'],
    ['.5', '500m'],
    ['10', '10'],
  ])('%s is stored as %s', (given, stored) => {
    expect(canonicalQuantity(given)).toBe(stored)
  })

  it('has one form', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'Ti')
    fc.assert(
      fc.property(fc.nat(), suffix, (number, unit) => {
        const once = canonicalQuantity(`${number}${unit}`)
        expect(canonicalQuantity(once)).toBe(once)
      }),
    )
  })

  it.each(['', 'a lot', '1X', '1.2.3'])('that is invalid (%j) is left to the server', (text) => {
    expect(canonicalQuantity(text)).toBe(text)
  })
})
