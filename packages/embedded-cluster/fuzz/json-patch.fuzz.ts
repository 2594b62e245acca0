/** Fuzzes JSON patches. */
import { attempt, type FuzzTarget, isA, jsonOf, jsonValue, sameJson, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { isJsonObject } from '../src/json.ts'
import { applyJsonPatch } from '../src/patch/json-patch.ts'
import { StatusError } from '../src/status-error.ts'
import { parsedPair } from './support/parsed-input.ts'

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

export const target: FuzzTarget = {
  description: 'JSON patches and the objects they are applied to (embedded cluster)',
  inputs: jsonOf({
    document: fc.constant({ a: [1, [2], 3], b: { c: null, '/': { '~': 1 } } }),
    patch: fc.array(operation, { maxLength: 6 }),
  }),
  dictionary: ['add', 'remove', 'replace', 'move', 'copy', 'test', '/a/0', '/a/-', '/b/c', ''],
  isJson: true,
  run(input) {
    const pair = parsedPair(textOf(input))
    if (pair === undefined) return 'not an input'
    const { document, patch } = pair
    const before = JSON.stringify(document)
    const patched = attempt(() => applyJsonPatch(document, patch), isA(StatusError))
    sameJson('a patch does not change its document', JSON.stringify(document), before)
    if ('refusal' in patched) return patched.refusal
    sameJson('a patched object is JSON', JSON.parse(JSON.stringify(patched.value)), patched.value)
    return `ok ${isJsonObject(patched.value)} ${Object.keys(patched.value).length > Object.keys(document).length}`
  },
}
