import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalQuantity, isQuantity } from './quantity.ts'

// Kubernetes itself decodes these, and with them an object is converted.
const VALID = ['1', '500m', '1Gi', '1.5Ki', '.5', '5.', '+.5', '-3', '1E', '1Ei', '1e3', '1E3', '1e-3', '1e+3', '1e03']
const ODD_BUT_VALID = [' 1', '1 ', '.', '+', 'Ki', 'm', '1e400', '12345678901234567890123456789', '00001']
const MALFORMED = ['', ' ', '1e', '1e1.5', '1e+', '1e.5', '1K', '1ki', '1Kib', '1mi', '1.5.5', '1Mi5', '1 Gi', '1,5']
const OTHER_TEXT = ['0x10', 'NaN', 'abc', '--1', '1e-+3', '1nm', '1_000', '١', '1\t']

describe('a quantity', () => {
  it.each([...VALID, ...ODD_BUT_VALID])('%j is valid', (text) => expect(isQuantity(text)).toBe(true))
  it.each([...MALFORMED, ...OTHER_TEXT])('%j is malformed', (text) => expect(isQuantity(text)).toBe(false))

  it('is a number or text and nothing else', () => {
    expect([1, 1.5].every(isQuantity)).toBe(true)
    expect([true, {}, [], undefined].some(isQuantity)).toBe(false)
  })

  it('is malformed when its exponent would make calculations take too long', () => {
    expect(isQuantity('1e1000')).toBe(true)
    expect(isQuantity('1e2147483647')).toBe(false)
    expect(isQuantity('1e-2147483647')).toBe(false)
    expect(isQuantity('9'.repeat(100_000))).toBe(false)
  })

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
    // As a real API server stores them.
    ['0.1Gi', '107374182400m'],
    ['100Ei', '9223372036854775807'],
    ['+5', '+5'],
    ['1E3', '1E3'],
    ['1.5e3', '1500'],
    ['1e400', '10e399'],
    ['3.14159265358979', '3141592654n'],
    ['12345678901234567890m', '12345678901234567890m'],
    ['-0.5Gi', '-512Mi'],
    [' 1024Mi ', '1Gi'],
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

  it.each(['', 'a lot', '1X', '1.2.3', '1e99999999', '1e-99999999'])(
    'that is invalid (%j) is left to the server',
    (text) => {
      expect(canonicalQuantity(text)).toBe(text)
    },
  )
})
