import { compilePattern } from '@reeve/patterns'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { namespaceMatcher } from './namespace-patterns.ts'

describe('a pattern of namespaces', () => {
  it.each(['(a+)+$', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(.*a){30}$'])(
    'that makes backtracking engines hang takes no time: %s',
    (pattern) => {
      // Backtracking takes longer than the test may.
      expect(namespaceMatcher([pattern]).matches(`${'a'.repeat(62)}!`)).toBe(false)
    },
  )

  it('means the same whether an engine is needed for it or not', () => {
    const text = fc.stringMatching(/^[ab-]{0,3}$/)
    const plain = fc
      .tuple(fc.constantFrom('', '^'), text, fc.constantFrom('', '$', '.*', '.*$'))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(plain, fc.stringMatching(/^[ab-]{0,6}$/), (pattern, name) => {
        const engine = compilePattern(pattern, { maxLength: 100, maxSize: 100 })
        if ('problem' in engine) throw new Error(engine.message)
        expect(namespaceMatcher([pattern]).matches(name)).toBe(engine.isIn(name))
      }),
    )
  })

  it('gives the same verdict the second time', () => {
    const { matches } = namespaceMatcher(['^sh[o]p$', '^a.*'])
    const names = ['shop', 'a-shop', 'bank', 'shop']
    expect([names.map(matches), names.map(matches)]).toEqual([
      [true, true, false, true],
      [true, true, false, true],
    ])
  })
})
