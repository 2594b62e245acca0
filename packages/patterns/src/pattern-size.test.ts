import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { patternSize } from './pattern-size.ts'

describe('the size of a pattern', () => {
  it.each([
    ['a{1000}', 1_000],
    ['a{2,900}', 900],
    ['a{900,}', 900],
    ['(a{30}){30}', 900],
    ['((a?){30}){30}', 900],
    ['[a-z]{500}', 500],
    ['\\x{41}{500}', 500],
    ['\\pN{50}', 1_000],
    ['[\\p{Greek}\\pL]{20}', 800],
    ['\\Qab\\E{500}', 500],
    ['(?P<name>a){300}', 300],
    ['a{1000}a{1000}a{1000}', 3_000],
  ])('counts the repeats of %s', (pattern, least) => {
    expect(patternSize(pattern)).toBeGreaterThanOrEqual(least)
    expect(patternSize(pattern)).toBeLessThan(10 * least)
  })

  it.each([
    '^team-(a|b)-[0-9]+$',
    '\\Qa{1000}\\E',
    '[a{1000}]',
    '[]{1000}]',
    '[^]{1000}]',
    '[[:alpha:]{1000}]',
    '[\\]{1000}]',
    'a\\{1000}',
    'a{,1000}',
    'a{x}',
    '\\p{Greek}',
  ])('does not mistake other text for a repeat: %s', (pattern) => {
    expect(patternSize(pattern)).toBeLessThan(50)
  })

  it('is never less than what is compiled', () => {
    fc.assert(
      fc.property(fc.oneof(anyPattern(), anyText()), (pattern) => {
        const compiled = compiledSize(pattern)
        if (compiled !== undefined) expect(patternSize(pattern)).toBeGreaterThanOrEqual(compiled)
      }),
      { numRuns: 3_000 },
    )
  })

  it('is computed in one pass, however long the text is', () => {
    // A scanner that looked for the end of each of these anew would need as many steps as the square of their number.
    for (const part of ['[[:', '[\\Q', '\\Q', '\\p{', '(?P<', '{1', '((a?){30}){30}', '[', '(']) {
      expect(patternSize(part.repeat(100_000))).toBeGreaterThan(0)
    }
  })
})

/** The size in the engine, or `undefined` if it is invalid. Only for small patterns: it builds them. */
function compiledSize(pattern: string): number | undefined {
  if (patternSize(pattern) > 20_000) return undefined
  try {
    return RE2JS.compile(pattern).programSize()
  } catch {
    // Not an expression: it has no size.
    return undefined
  }
}

/** Expressions by the grammar. */
function anyPattern(): fc.Arbitrary<string> {
  const { pattern } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
    atom: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('a', 'ab', '.', '\\d', '\\pL', '\\p{Greek}', '[a-c]', '[^]x]', '[[:^digit:]\\pN]', '^', '$'),
      fc.constantFrom('\\b', '\\x{41}', '\\Qa+\\E', '{', '(?i)k', '(?s).', 'é', '𝒳', ''),
      tie('pattern').map((inner) => `(${inner})`),
      tie('pattern').map((inner) => `(?:${inner})`),
      tie('pattern').map((inner) => `(?i-s:${inner})`),
      tie('pattern').map((inner) => `(?P<n>${inner})`),
    ),
    pattern: fc
      .array(
        fc.oneof(
          tie('atom'),
          fc
            .tuple(
              tie('atom'),
              fc.constantFrom('*', '+', '?', '*?', '{3}', '{0}', '{2,}', '{0,7}', '{1,3}?', '{12,40}'),
            )
            .map(([atom, repeat]) => `${atom}${repeat}`),
          fc.constant('|'),
        ),
        { maxLength: 5 },
      )
      .map((parts) => parts.join('')),
  }))
  return pattern
}

/** Texts that resemble patterns. */
function anyText(): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
    ...'ab\\[](){}|*+?^$.,:-<>0123QEpPxs',
    '[:',
    ':]',
    '(?',
    '\\Q',
    '\\E',
    '{2',
    '{2,',
    '[^',
  )
  return fc.array(piece, { maxLength: 14 }).map((parts) => parts.join(''))
}
