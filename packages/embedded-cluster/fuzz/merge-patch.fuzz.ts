/** Fuzzes JSON merge patches. */
import { type FuzzTarget, jsonOf, jsonValue, sameJson } from '@reeve/fuzz'
import { applyMergePatch } from '../src/patch/merge-patch.ts'
import { patchedPair } from './support/parsed-input.ts'

export const target: FuzzTarget = {
  description: 'JSON merge patches and the objects they are applied to (embedded cluster)',
  inputs: jsonOf({ document: jsonValue, patch: jsonValue }),
  seeds: ['{"document":{"a":{"b":1,"c":[1]},"d":null},"patch":{"a":{"b":null,"c":{"x":null}},"d":{"e":{}}}}'],
  isJson: true,
  run(input) {
    const result = patchedPair(input, ({ document, patch }) => applyMergePatch(document, patch))
    if (typeof result === 'string') return result
    const { document, patch, patched } = result
    sameJson('a second merge changes nothing', applyMergePatch(patched, patch), patched)
    return `ok ${patched === document} ${Math.min(4, Object.keys(patched).length)}`
  },
}
