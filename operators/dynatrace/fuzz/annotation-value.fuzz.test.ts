/** Fuzzes small texts that users and servers give the Dynatrace operator. */
import { broken, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import * as annotationValues from '../src/api/annotation-values.ts'
import { canonicalQuantity, isQuantity } from '../src/api/core/quantity.ts'
import { matchesEtag, parseRange } from '../src/tenant/simulator/http/byte-range.ts'

const value = fc.constantFrom(
  'true',
  'FALSE',
  '1',
  '0x10',
  '-1',
  '1e3',
  '1e99999999',
  '1.5Gi',
  '["a","b"]',
  '[',
  'a,b',
  'bytes=0-',
  'bytes=5-2',
  'bytes=-9',
  'bytes=0-1,3-4',
  'W/"x"',
  '"a", "b"',
)

fuzz('annotation-value', {
  inputs: fc.array(value, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  dictionary: ['bytes=', '-', ',', '"', '[', ']', 'true', 'W/', '*'],
  run(input) {
    const text = textOf(input)
    for (const parse of Object.values(annotationValues)) parse(text)
    isQuantity(text)
    matchesEtag(text, '"a"')
    const range = parseRange(text, 100)
    if (typeof range === 'object' && !(range.start >= 0 && range.start < range.end && range.end <= 100)) {
      throw broken('a range lies within the file', text, range)
    }
    const quantity = canonicalQuantity(text)
    if (canonicalQuantity(quantity) !== quantity) throw broken('a quantity has one form', text, quantity)
  },
})
