/** One call that explores an operator: every pattern, every point, one report. */

import { EXPLORATION_DEFAULTS } from './defaults.ts'
import type { Difference } from './difference.ts'
import { Explorer } from './explorer.ts'
import type { OperatorUnderTest, Scenario } from './operator-under-test.ts'
import { PATTERNS } from './patterns/index.ts'
import type { PatternId, PointOutcome } from './patterns/pattern.ts'
import type { TraceEntry } from './trace.ts'

/** Options of {@link explore}. */
export interface ExploreOptions {
  /** @default all of them */
  readonly patterns?: readonly PatternId[]
  /** Points tried of each pattern that is sampled. @default 24 */
  readonly budget?: number
  /** The same seed gives the same exploration. @default 1 */
  readonly seed?: number
  /** At most this many points of each pattern, spread evenly over all. @default every point */
  readonly maxPoints?: number
  /** End after this many divergences: one is enough to know that something is broken. @default never */
  readonly stopAfter?: number
  /** Ends the exploration between two runs; what was found so far is reported. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** How far an exploration is. */
export interface Progress {
  readonly pattern: PatternId
  readonly done: number
  readonly total: number
}

/** A run that did not end as it should. */
export interface Divergence {
  readonly pattern: PatternId
  readonly point: number
  readonly seed: number
  /** Where the fault struck. */
  readonly label: string
  /** What is wrong, in sentences. */
  readonly message: string
  /** What happened around the fault, in order. */
  readonly trace: readonly TraceEntry[]
  /** How the end state differs from the undisturbed run. */
  readonly differences: readonly Difference[]
}

/** What was tried of one pattern. */
export interface PatternReport {
  readonly pattern: PatternId
  readonly title: string
  readonly coverage: 'exhaustive' | 'sampled'
  /** Points that exist; 0 when the pattern does not apply to the operator. */
  readonly points: number
  /** Points that were run. */
  readonly explored: number
  /** Of those, runs in which the fault found nothing to strike. */
  readonly missed: number
  readonly divergences: number
}

/** What an exploration found. */
export interface ExplorationReport {
  readonly operator: string
  readonly scenario: string
  readonly seed: number
  readonly runs: number
  readonly patterns: readonly PatternReport[]
  readonly divergences: readonly Divergence[]
}

/**
 * Explores an operator: runs the scenario undisturbed, then once for each point of each pattern, and compares.
 *
 * *Guarantees*: deterministic; each run has a world of its own; a divergence names the pattern, point and seed that
 * replay it.
 *
 * @example
 * const { divergences } = await explore(operator, scenario, { patterns: ['T1', 'T9'] })
 * expect(divergences).toEqual([])
 */
export async function explore(
  operator: OperatorUnderTest,
  scenario: Scenario,
  options: ExploreOptions = {},
): Promise<ExplorationReport> {
  const { seed = EXPLORATION_DEFAULTS.seed, signal, onProgress } = options
  const explorer = new Explorer({ operator, scenario }, options)
  const collected = new ReportBuilder(operator.name, scenario.name, seed)
  const baseline = await explorer.baselineProblems()
  if (baseline.problems.length > 0) {
    collected.undisturbed(baseline)
    return collected.report()
  }
  for (const pattern of options.patterns ?? PATTERNS.map(({ id }) => id)) {
    const labels = await explorer.labels(pattern)
    const chosen = choosePoints(labels.length, options.maxPoints)
    collected.begin(pattern, labels.length)
    for (const [done, point] of chosen.entries()) {
      if (signal?.aborted || collected.divergences >= (options.stopAfter ?? Number.POSITIVE_INFINITY))
        return collected.report()
      collected.add(pattern, point, labels[point] ?? '', await explorer.run(pattern, point))
      onProgress?.({ pattern, done: done + 1, total: chosen.length })
    }
  }
  return collected.report()
}

/** Indices of the points to run: all, or `max` of them spread evenly. */
export function choosePoints(total: number, max = Number.POSITIVE_INFINITY): readonly number[] {
  const count = Math.min(total, max)
  return Array.from({ length: count }, (_, index) => Math.floor((index * total) / count))
}

/** Patterns in which nothing goes wrong from outside. */
const WITHOUT_FAULT: ReadonlySet<PatternId> = new Set(['T12', 'T13'])

/** Puts a report together from outcomes, in whatever order they come. */
export class ReportBuilder {
  readonly #patterns = new Map<PatternId, { points: number; explored: number; missed: number; divergences: number }>()
  readonly #divergences: Divergence[] = []
  readonly #operator: string
  readonly #scenario: string
  readonly #seed: number

  constructor(operator: string, scenario: string, seed: number) {
    this.#operator = operator
    this.#scenario = scenario
    this.#seed = seed
  }

  /** How many were found so far. */
  get divergences(): number {
    return this.#divergences.length
  }

  begin(pattern: PatternId, points: number): void {
    this.#patterns.set(pattern, { points, explored: 0, missed: 0, divergences: 0 })
  }

  /** The undisturbed run went wrong by itself: that is a lack of quiescence, and nothing can be compared. */
  undisturbed(outcome: PointOutcome): void {
    this.begin('T13', 1)
    this.add('T13', 0, 'the undisturbed run', outcome)
  }

  add(pattern: PatternId, point: number, label: string, outcome: PointOutcome): void {
    const counts = this.#patterns.get(pattern)
    if (counts !== undefined) {
      counts.explored++
      if (!outcome.hasStruck && !WITHOUT_FAULT.has(pattern)) counts.missed++
    }
    if (outcome.problems.length === 0) return
    if (counts !== undefined) counts.divergences++
    const { trace, differences, problems } = outcome
    this.#divergences.push({
      pattern,
      point,
      seed: this.#seed,
      label,
      message: problems.join('; '),
      trace,
      differences,
    })
  }

  report(): ExplorationReport {
    const patterns = PATTERNS.flatMap(({ id, title, coverage }): PatternReport[] => {
      const counts = this.#patterns.get(id)
      return counts === undefined ? [] : [{ pattern: id, title, coverage, ...counts }]
    })
    return {
      operator: this.#operator,
      scenario: this.#scenario,
      seed: this.#seed,
      runs: patterns.reduce((sum, { explored }) => sum + explored, 0),
      patterns,
      divergences: this.#divergences.toSorted((a, b) => order(a.pattern) - order(b.pattern) || a.point - b.point),
    }
  }
}

function order(pattern: PatternId): number {
  return PATTERNS.findIndex(({ id }) => id === pattern)
}
