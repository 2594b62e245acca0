/** Fuzzes JSON merge patches. */
import { fuzz, jsonOf, jsonValue, sameJson } from '@reeve/fuzz'
import { applyMergePatch } from '../src/patch/merge-patch.ts'
import { patchedPair } from './support/parsed-input.ts'

fuzz('merge-patch', {
  inputs: jsonOf({ document: jsonValue, patch: jsonValue }),
  seeds: ['{"document":{"a":{"b":1,"c":[1]},"d":null},"patch":{"a":{"b":null,"c":{"x":null}},"d":{"e":{}}}}'],
  isJson: true,
  run(input) {
    const result = patchedPair(input, ({ document, patch }) => applyMergePatch(document, patch))
    if (result === undefined) return
    const { patch, patched } = result
    sameJson('a second merge changes nothing', applyMergePatch(patched, patch), patched)
  },
})
