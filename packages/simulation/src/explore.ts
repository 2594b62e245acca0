/** One call that explores an operator: every pattern, every point, one report. */
import type { Difference, EndState } from './compare/difference.ts'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import { exploreWith, type PointRunner } from './explore-with.ts'
import { Explorer } from './explorer.ts'
import type { Problem } from './judge/problem.ts'
import type { OperatorUnderTest, Scenario } from './operator-under-test.ts'
import type { Coverage, Shape } from './patterns/pattern.ts'
import type { PatternName, PatternReference } from './patterns/pattern-names.ts'
import type { TraceEntry } from './world/trace.ts'

/** Options of {@link explore}. */
export interface ExploreOptions {
  /** By name or number. @default all of them */
  readonly patterns?: readonly PatternReference[]
  /** Points of each pattern that is sampled. @default 24 */
  readonly budget?: number
  /** Pairs of faults, of `two-faults`. @default 100 */
  readonly pairs?: number | 'all'
  /** Only points of this shape, as reports of processes name them. @default all */
  readonly only?: string
  /** The same seed gives the same exploration. @default 1 */
  readonly seed?: number
  /** At most this many points of each pattern: one of each shape first, then spread evenly. @default every point */
  readonly maxPoints?: number
  /** Real time after which no further point is begun; points are then tried in the order of what they may show. @default none */
  readonly maxSeconds?: number
  /** End after this many divergences: one is enough to know that something is broken. @default never */
  readonly stopAfter?: number
  /** Ends the exploration between two runs, of processes also during them; what was found so far is reported. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** How far an exploration is: reported when a pattern begins and after every run. */
export interface Progress {
  readonly pattern: PatternName
  /** Runs of the pattern. */
  readonly done: number
  readonly total: number
  /** Runs of all patterns. */
  readonly doneInAll: number
  readonly totalInAll: number
  /** Of the pattern, so far. */
  readonly divergences: number
}

/** A run with problems, or whose end state differs from the undisturbed run. */
export interface Divergence {
  readonly pattern: PatternName
  readonly point: number
  readonly seed: number
  /** Where the fault was injected. */
  readonly label: string
  readonly problems: readonly Problem[]
  /** The problems in sentences. */
  readonly message: string
  /** What happened around the fault, in order. */
  readonly trace: readonly TraceEntry[]
  /** How the end states of the disturbed and the undisturbed run differ. */
  readonly differences: readonly Difference[]
  /** What the point has in common with the same point in another exploration. */
  readonly shape: Shape
  /** The objects that differ, in both end states. Absent when the runs ended alike. */
  readonly endStates?: readonly EndState[]
}

/** What was tried of one pattern. */
export interface PatternReport {
  readonly pattern: PatternName
  readonly title: string
  readonly coverage: Coverage
  /** Points that exist; 0 when the pattern does not apply to the operator. */
  readonly points: number
  /** Points that were run. */
  readonly explored: number
  /** Different requests and events among all points, and among those that were run. */
  readonly shapes: number
  readonly exploredShapes: number
  /** Of the runs, those in which the fault did not take effect. */
  readonly missed: number
  /** Their labels. */
  readonly missedPoints: readonly string[]
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
 * Explores an operator: judges the scenario without a fault, then runs it once for each point of each pattern, and
 * compares.
 *
 * *Guarantees*: deterministic unless `maxSeconds` is set; each run has its own world; a divergence names the
 * pattern, point and seed that replay it.
 *
 * @example
 * const { divergences } = await explore(operator, scenario, { patterns: ['crash-after-write', 'failed-request'] })
 * expect(divergences).toEqual([])
 */
export function explore(
  operator: OperatorUnderTest,
  scenario: Scenario,
  options: ExploreOptions = {},
): Promise<ExplorationReport> {
  const { seed = EXPLORATION_DEFAULTS.seed } = options
  const runner = oneByOne(new Explorer({ operator, scenario }, options))
  return exploreWith(runner, { operator: operator.name, scenario: scenario.name, seed }, options)
}

/** Runs points in this thread. */
function oneByOne(explorer: Explorer): PointRunner {
  return {
    points: (patterns) =>
      Promise.all(patterns.map(async (pattern) => [pattern, await explorer.points(pattern)] as const)).then(
        (entries) => new Map(entries),
      ),
    run: async (tasks, { begun, done, isOver }) => {
      for (const task of tasks) {
        if (isOver()) return
        begun(task)
        const startedMs = performance.now()
        const outcome = await explorer.run(task.pattern, task.point)
        done(task, outcome, performance.now() - startedMs)
      }
    },
  }
}
