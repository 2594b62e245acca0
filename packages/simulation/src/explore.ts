/** One call that explores an operator: every pattern, every point, one report. */

import type { Difference } from './compare/difference.ts'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import { Explorer } from './explorer.ts'
import type { OperatorUnderTest, Scenario } from './operator-under-test.ts'
import { PATTERNS } from './patterns/index.ts'
import type { PatternId } from './patterns/pattern.ts'
import { ReportBuilder } from './report/report-builder.ts'
import type { TraceEntry } from './world/trace.ts'

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

/** How far an exploration is: told when a pattern begins and after every run. */
export interface Progress {
  readonly pattern: PatternId
  /** Runs of the pattern. */
  readonly done: number
  readonly total: number
  /** Runs of all patterns. */
  readonly doneInAll: number
  readonly totalInAll: number
  /** Of the pattern, so far. */
  readonly divergences: number
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
  /** Real time of its runs, one after the other. */
  readonly durationMs: number
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
  const chosen = new Map<PatternId, readonly { readonly point: number; readonly label: string }[]>()
  for (const pattern of options.patterns ?? PATTERNS.map(({ id }) => id)) {
    const labels = await explorer.labels(pattern)
    const points = choosePoints(labels.length, options.maxPoints).map((point) => ({
      point,
      label: labels[point] ?? '',
    }))
    chosen.set(pattern, points)
    collected.begin(pattern, labels.length, points.length)
  }
  for (const [pattern, points] of chosen) {
    if (points.length > 0) onProgress?.(collected.progress(pattern))
    for (const { point, label } of points) {
      if (signal?.aborted || collected.divergences >= (options.stopAfter ?? Number.POSITIVE_INFINITY))
        return collected.report()
      const startedMs = performance.now()
      const outcome = await explorer.run(pattern, point)
      collected.add(pattern, point, label, outcome, performance.now() - startedMs)
      onProgress?.(collected.progress(pattern))
    }
  }
  return collected.report()
}

/** Indices of the points to run: all, or `max` of them spread evenly. */
export function choosePoints(total: number, max = Number.POSITIVE_INFINITY): readonly number[] {
  const count = Math.min(total, max)
  return Array.from({ length: count }, (_, index) => Math.floor((index * total) / count))
}
