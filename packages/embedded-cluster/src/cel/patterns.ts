/** Regular expressions of rules: compiled once, charged to the budget, and forgotten when there are too many. */
import { type CompiledPattern, compilePattern } from '@reeve/patterns'
import { PATTERN_LIMITS } from '../schema/patterns.ts'
import type { Budget } from './budget.ts'
import { CelError } from './cel-error.ts'

/** Size of all patterns that are kept. */
const MAX_KEPT_SIZE = 100_000

/** Steps per unit of size for compiling, and units of size times characters per step for searching, as measured. */
const COMPILE_STEPS = 10
const SEARCHED_PER_STEP = 50

/** The patterns of a set of rules. */
export class Patterns {
  readonly #compiled = new Map<string, CompiledPattern>()
  #keptSize = 0

  /**
   * Whether a text contains a match.
   *
   * *Errors*: {@link CelError} for an invalid pattern or exceeds the limits, `CelBudgetError`.
   */
  matches(text: string, pattern: string, budget: Budget): boolean {
    const compiled = this.#compiled.get(pattern) ?? this.#compile(pattern, budget)
    spendSearch(compiled, text, budget)
    return compiled.isIn(text)
  }

  /** The first matches of a text, `limit` at most. *Errors*: as {@link matches}. */
  find(text: string, pattern: string, limit: number, budget: Budget): string[] {
    const compiled = this.#compiled.get(pattern) ?? this.#compile(pattern, budget)
    const found: string[] = []
    if (limit <= 0) return found
    // Each search may have to look at the whole text.
    spendSearch(compiled, text, budget)
    for (const match of compiled.matchesIn(text)) {
      if (found.push(match) >= limit) break
      spendSearch(compiled, text, budget)
    }
    return found
  }

  #compile(text: string, budget: Budget): CompiledPattern {
    const pattern = compilePattern(text, PATTERN_LIMITS)
    if ('problem' in pattern) throw new CelError(`the pattern ${pattern.message}`)
    budget.spend(pattern.size * COMPILE_STEPS)
    if (this.#keptSize + pattern.size > MAX_KEPT_SIZE) {
      this.#compiled.clear()
      this.#keptSize = 0
    }
    this.#compiled.set(text, pattern)
    this.#keptSize += pattern.size
    return pattern
  }
}

function spendSearch({ size }: CompiledPattern, text: string, budget: Budget): void {
  budget.spend((size * text.length) / SEARCHED_PER_STEP)
}
