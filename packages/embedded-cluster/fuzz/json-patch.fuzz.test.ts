/** Fuzzes JSON patches. */
import { fuzz, jsonOf, jsonValue, sameJson } from '@reeve/fuzz'
import fc from 'fast-check'
import { applyJsonPatch } from '../src/patch/json-patch.ts'
import { patchedPair } from './support/parsed-input.ts'

const pointer = fc.constantFrom(
  '',
  '/',
  '/a',
  '/a/0',
  '/a/-',
  '/a/-1',
  '/b/c',
  '/b/~1/~0',
  '/__proto__/x',
  '/constructor/prototype/x',
  'a',
  '/b',
)
const operation = fc.record(
  {
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
    path: pointer,
    from: pointer,
    value: jsonValue,
  },
  { requiredKeys: ['op', 'path'] },
)

fuzz('json-patch', {
  inputs: jsonOf({
    document: fc.constant({ a: [1, [2], 3], b: { c: null, '/': { '~': 1 } } }),
    patch: fc.array(operation, { maxLength: 6 }),
  }),
  dictionary: ['add', 'remove', 'replace', 'move', 'copy', 'test', '/a/0', '/a/-', '/b/c', ''],
  isJson: true,
  run(input) {
    const result = patchedPair(input, ({ document, patch }) => applyJsonPatch(document, patch))
    if (result === undefined) return
    sameJson('a patched object is JSON', JSON.parse(JSON.stringify(result.patched)), result.patched)
  },
})
