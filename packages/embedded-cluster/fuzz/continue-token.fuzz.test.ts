/** Fuzzes the tokens that lead to the next page of a list. */
import { attempt, fuzz, jsonOf, sameJson, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { decodeContinue, encodeContinue } from '../src/rest/continue-token.ts'
import { StatusError } from '../src/status-error.ts'

const start = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('/default/web\u0000', '../x', '/', '//', 'a/../b'))

fuzz('continue-token', {
  inputs: jsonOf({ v: fc.constantFrom('meta.k8s.io/v1', 'v2'), rv: fc.integer(), start }),
  seeds: ['{"v":"meta.k8s.io/v1","rv":7,"start":"/default/web\\u0000"}'],
  isJson: true,
  run(input) {
    const token = Buffer.from(input).toString('base64url')
    const decoded = attempt(() => decodeContinue(token), StatusError)
    // The text itself is a token as well, mostly a bad one.
    attempt(() => decodeContinue(textOf(input)), StatusError)
    if (decoded === undefined) return
    sameJson('a token leads back to its point', decodeContinue(encodeContinue(decoded.value)), decoded.value)
  },
})
