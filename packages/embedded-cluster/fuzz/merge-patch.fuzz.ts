/** Fuzzes JSON merge patches. */
import { attempt, type FuzzTarget, isA, jsonOf, jsonValue, sameJson, textOf } from '@reeve/fuzz'
import { applyMergePatch } from '../src/patch/merge-patch.ts'
import { StatusError } from '../src/status-error.ts'
import { parsedPair } from './support/parsed-input.ts'

export const target: FuzzTarget = {
  description: 'JSON merge patches and the objects they are applied to (embedded cluster)',
  inputs: jsonOf({ document: jsonValue, patch: jsonValue }),
  seeds: ['{"document":{"a":{"b":1,"c":[1]},"d":null},"patch":{"a":{"b":null,"c":{"x":null}},"d":{"e":{}}}}'],
  isJson: true,
  run(input) {
    const pair = parsedPair(textOf(input))
    if (pair === undefined) return 'not an input'
    const { document, patch } = pair
    const before = JSON.stringify(document)
    const merged = attempt(() => applyMergePatch(document, patch), isA(StatusError))
    sameJson('a patch does not change its document', JSON.stringify(document), before)
    if ('refusal' in merged) return merged.refusal
    sameJson('a second merge changes nothing', applyMergePatch(merged.value, patch), merged.value)
    return `ok ${merged.value === document} ${Math.min(4, Object.keys(merged.value).length)}`
  },
}
