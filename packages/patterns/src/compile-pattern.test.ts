import { describe, expect, it } from 'vitest'
import { type CompiledPattern, compilePattern } from './compile-pattern.ts'

const LIMITS = { maxLength: 64, maxSize: 1_000 }

function compiled(pattern: string): CompiledPattern {
  const result = compilePattern(pattern, LIMITS)
  if ('problem' in result) throw new Error(result.message)
  return result
}

describe('compilePattern', () => {
  it('finds a match anywhere in a text', () => {
    expect(['shop', 'a-shop', 'sho'].map(compiled('sh?op').isIn)).toEqual([true, true, false])
  })

  it('finds all matches, one after the other', () => {
    expect([...compiled('[a-z]+').matchesIn('one 2 three')]).toEqual(['one', 'three'])
    expect([...compiled('x*').matchesIn('axb')]).toEqual(['', 'x', '', ''])
  })

  it.each([
    ['a'.repeat(65), 'too-long', 'has 65 characters; at most 64 are allowed'],
    ['(a{100}){100}', 'too-large', expect.stringMatching(/^is of size \d+ with its repeats written out; at most 1000/)],
    ['a(', 'invalid', expect.stringContaining('missing closing )')],
    ['(?=a)', 'invalid', expect.any(String)],
  ])('explains why %s is rejected', (pattern, problem, message) => {
    expect(compilePattern(pattern, LIMITS)).toEqual({ problem, message })
  })

  it.each(['(a+)+$', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(.*a){30}$', '(x+x+)+y'])(
    'matches in time that grows with the text only: %s',
    (pattern) => {
      // Backtracking would take longer than the test may.
      expect(compiled(pattern).isIn(`${'a'.repeat(5_000)}!`)).toBe(false)
    },
  )
})
