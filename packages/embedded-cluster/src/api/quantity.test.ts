import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalQuantity, compareQuantities, formatQuantity, parseQuantity, QuantityError } from './quantity.ts'

describe('canonical quantities', () => {
  // Recorded from a real API server for `emptyDir.sizeLimit`.
  it.each([
    ['0.5', '500m'],
    ['1024Mi', '1Gi'],
    ['1', '1'],
    ['1000m', '1'],
    ['1.5Gi', '1536Mi'],
    ['1500Mi', '1500Mi'],
    ['0.1Gi', '107374182400m'],
    ['1e3', '1e3'],
    ['1E3', '1E3'],
    ['1E', '1E'],
    ['12e6', '12e6'],
    ['100000000', '100M'],
    ['0.0001', '100u'],
    ['0.00000000001', '1n'],
    ['+5', '+5'],
    ['0', '0'],
    ['00.50', '500m'],
    ['1.', '1.'],
    ['.5', '500m'],
    ['1024', '1024'],
    ['1000', '1k'],
    ['1000k', '1M'],
    ['0.5Mi', '512Ki'],
    ['1024Ti', '1Pi'],
    ['9223372036854775808', '9223372036854775808'],
    ['1000n', '1u'],
    ['1e-3', '1e-3'],
    ['1.5e3', '1500'],
    ['1.1e1', '1.1e1'],
    ['1e-10', '1e-9'],
    ['0m', '0'],
    ['0Gi', '0'],
    ['3.14159265358979', '3141592654n'],
    ['100Ei', '9223372036854775807'],
    ['1e400', '10e399'],
    ['12345678901234567890m', '12345678901234567890m'],
    ['-0.5Gi', '-512Mi'],
  ])('writes %s as %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical)
  })

  it.each([
    ['0.0001', '1m'],
    ['1n', '1m'],
    ['1e-10', '1e-3'],
    ['3.14159265358979', '3142m'],
    ['0.1Gi', '107374182400m'],
  ])('rounds %s up to %s in a resource list', (text, canonical) => {
    expect(canonicalQuantity(text, { milli: true })).toBe(canonical)
  })

  it.each(['abc', '', '1 Gi', '-', 'Gi'])('rejects %j, which is not a quantity', (text) => {
    expect(() => canonicalQuantity(text)).toThrow(/must match the regular expression/)
  })

  it.each(['1mm', '1iK', '1e', '1e999999999'])('rejects the suffix of %s', (text) => {
    expect(() => canonicalQuantity(text)).toThrow("unable to parse quantity's suffix")
  })

  it('is unchanged when formatted again, and the same number', () => {
    const notation = fc.constantFrom(
      '',
      'n',
      'u',
      'm',
      'k',
      'M',
      'G',
      'T',
      'P',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'Ti',
      'e3',
      'e-6',
    )
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 999 }), notation, (whole, fraction, suffix) => {
        const text = `${whole}.${fraction}${suffix}`
        const quantity = parseQuantity(text)
        const canonical = formatQuantity(quantity)
        expect(formatQuantity(parseQuantity(canonical))).toBe(canonical)
        expect(compareQuantities(parseQuantity(canonical), quantity)).toBe(0)
        expect(compareQuantities(parseQuantity(canonicalQuantity(text)), quantity)).toBe(0)
      }),
    )
  })

  it('rejects a long text by its length', () => {
    // Its end does not match, and would be searched for from every digit.
    expect(() => canonicalQuantity(`${'1'.repeat(100_000)}!`)).toThrow('unable to parse numeric part of quantity')
  })

  it('parses any text or throws a QuantityError', () => {
    const characters = fc.string({ unit: fc.constantFrom(...'0123456789.+-eEinumkKMGTP') })
    fc.assert(
      fc.property(characters, (text) => {
        try {
          canonicalQuantity(text)
        } catch (error) {
          expect(error).toBeInstanceOf(QuantityError)
        }
      }),
    )
  })
})
