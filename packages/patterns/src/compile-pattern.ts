/** Compiles a user's pattern to a matcher that takes linear time, or explains why it cannot. */
import { RE2JS } from 're2js'
import { patternSize } from './pattern-size.ts'

/** What a regular expression may cost. */
export interface PatternLimits {
  /** Characters. */
  readonly maxLength: number
  /** Instructions once repeats are written out; see {@link CompiledPattern.size}. */
  readonly maxSize: number
}

/** A regular expression that can be used. */
export interface CompiledPattern {
  /**
   * What the limit counts: about one per character, `a{50}` as fifty, a table of Unicode such as `\pL` as twenty. Time
   * and memory grow with it.
   */
  readonly size: number
  /** Whether the text contains a match. Takes time in proportion to the size and the length of the text. */
  readonly isIn: (text: string) => boolean
  /** The matches from left to right, each searched for on demand: each may take as long as `isIn`. */
  readonly matchesIn: (text: string) => Iterable<string>
}

/** Why a text cannot be used as a regular expression. */
export interface PatternProblem {
  readonly problem: 'too-long' | 'too-large' | 'invalid'
  /** Ends a sentence that begins with what is wrong, such as `the pattern …`. */
  readonly message: string
}

/**
 * Compiles a regular expression in the dialect of RE2, which Kubernetes and its tools use.
 *
 * *Guarantees*: nothing is built from a text beyond the limits; it is not even parsed. Matching never backtracks:
 * `(a+)+$` takes as long as `a+$`.
 *
 * @example
 * const pattern = compilePattern('^team-[0-9]+$', { maxLength: 256, maxSize: 1_000 })
 * if ('problem' in pattern) throw new Error(pattern.message)
 * pattern.isIn('team-7') // true
 */
export function compilePattern(pattern: string, limits: PatternLimits): CompiledPattern | PatternProblem {
  const { maxLength, maxSize } = limits
  if (pattern.length > maxLength) {
    return { problem: 'too-long', message: `has ${pattern.length} characters; at most ${maxLength} are allowed` }
  }
  const size = patternSize(pattern)
  if (size > maxSize) {
    const message = `is of size ${size} with its repeats written out; at most ${maxSize} is allowed`
    return { problem: 'too-large', message }
  }
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(pattern)
  } catch (error) {
    return { problem: 'invalid', message: error instanceof Error ? error.message : String(error) }
  }
  // Not `test`, which builds its own states: many more than there are instructions, and much slower at worst.
  return {
    size,
    isIn: (text) => compiled.matcher(text).find(),
    *matchesIn(text) {
      const matcher = compiled.matcher(text)
      while (matcher.find()) yield matcher.group() ?? ''
    },
  }
}
