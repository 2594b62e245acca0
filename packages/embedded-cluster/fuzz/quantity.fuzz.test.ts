/** Fuzzes resource quantities. */
import { attempt, fuzz, sameJson, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { canonicalQuantity, compareQuantities, parseQuantity, QuantityError } from '../src/api/quantity.ts'
import { amountOf } from '../src/controllers/quantities.ts'

const suffix = fc.constantFrom(
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
  'Pi',
  'Ei',
  'e3',
  'E-3',
  'e9999',
  'e99999',
  'x',
)
const digits = fc.stringMatching(/^[+-]?[0-9]{0,25}(\.[0-9]{0,12})?$/)

fuzz('quantity', {
  inputs: fc.tuple(digits, suffix).map((parts) => parts.join('')),
  seeds: ['500m', '1.5Gi', '-0.001', '1e3', '+5', '.5k', '9223372036854775807Ei'],
  dictionary: ['e', 'E', '-', '+', '.', 'Ki', 'Ei', 'n', '0', '9'],
  run(input) {
    const text = textOf(input)
    amountOf(text)
    const parsed = attempt(() => parseQuantity(text), QuantityError)
    if (parsed === undefined) return
    for (const milli of [false, true]) {
      const canonical = canonicalQuantity(text, { milli })
      sameJson('the canonical form is its own canonical form', canonicalQuantity(canonical, { milli }), canonical)
      if (!milli)
        sameJson('the canonical form is the same number', compareQuantities(parseQuantity(canonical), parsed.value), 0)
    }
  },
})
