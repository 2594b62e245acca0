import { describe, expect, it } from 'vitest'
import { matchesPattern, PatternChecker } from './patterns.ts'
import { checkStructural } from './structural.ts'

const TOO_LARGE = 'a{1000}'.repeat(100)

describe('patterns of a schema', () => {
  it('match anywhere in a text', () => {
    const schema = { pattern: 'b+' }
    expect(['abba', 'aa', ''].map((text) => matchesPattern(schema, text))).toEqual([true, false, false])
  })

  it('are refused with the definition when they would take too long to compile', () => {
    const schema = { type: 'object', properties: { spec: { type: 'string', pattern: TOO_LARGE } } } as const
    expect(checkStructural(schema)).toMatchObject([
      {
        field: 'spec.validation.openAPIV3Schema.properties[spec].pattern',
        message: expect.stringContaining('with its repeats written out; at most 100000 is allowed'),
      },
    ])
    expect(matchesPattern({ pattern: TOO_LARGE }, 'a')).toBe(false)
  })

  it('are bounded all together, and each counts once', () => {
    const checker = new PatternChecker()
    const problems = (from: number) =>
      Array.from({ length: 50 }, (_, index) => checker.problemOf(`a{900}b{900}${from + index}`))
    expect(new Set(problems(0).map((problem) => problem === undefined))).toEqual(new Set([true, false]))
    expect(checker.problemOf('a{900}b{900}0')).toBeUndefined()
  })
})
