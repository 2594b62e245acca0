/** Regular expressions in schemas, in the API server's syntax (RE2): no look-around, linear time, bounded in size. */
import { type CompiledPattern, compilePattern } from '@reeve/patterns'
import type { Schema } from './schema.ts'

/**
 * Limits of one pattern. The API server's own are many times higher, but so is its speed: a pattern of this size takes
 * half a second to compile.
 */
export const PATTERN_LIMITS = { maxLength: 64 * 1024, maxSize: 100_000 }

/** Size of all different patterns of a definition. */
const MAX_TOTAL_SIZE = 200_000

/** Compiled patterns by schema. A cache: schemas are immutable, and entries are collected with their schema. */
const compiled = new WeakMap<Schema, CompiledPattern>()

/** Whether `text` contains a match of the schema's pattern. A pattern that cannot be used matches nothing. */
export function matchesPattern(schema: Schema, text: string): boolean {
  if (schema.pattern === undefined) return true
  let pattern = compiled.get(schema)
  if (pattern === undefined) {
    const candidate = compilePattern(schema.pattern, PATTERN_LIMITS)
    if ('problem' in candidate) return false
    pattern = candidate
    compiled.set(schema, pattern)
  }
  return pattern.isIn(text)
}

/** Checks the patterns of one definition. The same few occur many times in it, and compiling is slow. */
export class PatternChecker {
  readonly #problems = new Map<string, string | undefined>()
  #left = MAX_TOTAL_SIZE

  /** Why the pattern cannot be used, or `undefined` when it can. */
  problemOf(pattern: string): string | undefined {
    if (!this.#problems.has(pattern)) this.#problems.set(pattern, this.#check(pattern))
    return this.#problems.get(pattern)
  }

  #check(pattern: string): string | undefined {
    const result = compilePattern(pattern, { ...PATTERN_LIMITS, maxSize: Math.min(PATTERN_LIMITS.maxSize, this.#left) })
    if ('problem' in result) return result.message
    this.#left -= result.size
    return undefined
  }
}
