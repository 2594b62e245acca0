/** Regular expressions that match names of namespaces: in the dialect of Kubernetes tools, bounded, and never slow. */
import { compilePattern } from '@reeve/patterns'
import { BoundedMap } from '../bounded-map.ts'

/** What the patterns of one DynaKube may cost. */
export const PATTERN_LIMITS = Object.freeze({
  /** Characters of the whole list, as written. */
  maxListLength: 64 * 1024,
  maxPatterns: 1_000,
  /** Characters of one pattern. */
  maxPatternLength: 256,
  /**
   * Of all patterns together, with their repeats written out; those without special characters count nothing. At worst
   * a name of 63 characters takes a millisecond.
   */
  maxTotalSize: 4_000,
})

/** Cached results: namespaces rarely change between reconciles. */
const MAX_REMEMBERED_NAMES = 4_096

/** Patterns that are ready for use. */
export interface NamespaceMatcher {
  /** Whether a name contains a match of one of the patterns. */
  readonly matches: (name: string) => boolean
  /** Why patterns are left out, one sentence each: those beyond the limits. */
  readonly excess: readonly string[]
}

type Match = (name: string) => boolean

/**
 * Makes a matcher. An invalid regular expression matches nothing; patterns beyond the limits are left out and
 * reported.
 *
 * *Guarantee*: time grows with the length of a name only, whatever the patterns.
 */
export function namespaceMatcher(patterns: readonly string[]): NamespaceMatcher {
  const excess: string[] = []
  const { maxPatterns } = PATTERN_LIMITS
  if (patterns.length > maxPatterns) {
    excess.push(`has ${patterns.length} patterns; at most ${maxPatterns} are allowed: say several names by one pattern`)
  }
  const plain: Match[] = []
  const compiled: Match[] = []
  let left = PATTERN_LIMITS.maxTotalSize
  for (const [index, pattern] of patterns.slice(0, maxPatterns).entries()) {
    const simple = plainMatch(pattern)
    if (simple !== undefined) {
      plain.push(simple)
      continue
    }
    const result = compilePattern(pattern, { maxLength: PATTERN_LIMITS.maxPatternLength, maxSize: left })
    if (!('problem' in result)) {
      left -= result.size
      compiled.push(result.isIn)
    } else if (result.problem === 'too-long') {
      excess.push(`pattern ${index + 1} ${result.message}: write it as several shorter ones`)
    } else if (result.problem === 'too-large') {
      const { maxTotalSize } = PATTERN_LIMITS
      const used = maxTotalSize - left
      excess.push(
        `pattern ${index + 1} ${result.message}${used === 0 ? '' : `, as those before it have used ${used} of ${maxTotalSize}`}: ` +
          'use fewer or smaller repeats, or plain names',
      )
    }
    // An invalid one matches nothing, as before: it must not stop the others.
  }
  const isPlainMatch = anyOf(plain)
  const isMatch = compiled.length === 0 ? isPlainMatch : anyOf([isPlainMatch, remembered(anyOf(compiled))])
  return { matches: isMatch, excess }
}

/** `^name$`, `^prefix-.*` and the like, which most patterns are, need no engine and no limit but their number. */
const PLAIN = /^(\^?)([A-Za-z0-9-]*)(\$|\.\*\$?)?$/

function plainMatch(pattern: string): Match | undefined {
  if (pattern.length > PATTERN_LIMITS.maxPatternLength) return undefined
  const [whole, start, text = '', end] = PLAIN.exec(pattern) ?? []
  if (whole === undefined) return undefined
  if (end === '$') return start === '^' ? (name) => name === text : (name) => name.endsWith(text)
  // No name has a line break, which `.*` would stop at.
  return start === '^' ? (name) => name.startsWith(text) : (name) => name.includes(text)
}

const anyOf =
  (matches: readonly Match[]): Match =>
  (name) =>
    matches.some((match) => match(name))

function remembered(match: Match): Match {
  const known = new BoundedMap<string, boolean>(MAX_REMEMBERED_NAMES)
  return (name) => {
    let verdict = known.get(name)
    if (verdict === undefined) {
      verdict = match(name)
      known.set(name, verdict)
    }
    return verdict
  }
}
