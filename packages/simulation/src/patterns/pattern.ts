/** What a pattern of faults is: a list of points, each of which is one run. */
import type { Difference } from '../compare/difference.ts'
import type { OperatorUnderTest, Scenario } from '../operator-under-test.ts'
import type { ScenarioRun, ScenarioRunOptions } from '../scenario-run.ts'
import type { TraceEntry } from '../world/trace.ts'

/** The patterns by their customary numbers. */
export const PATTERN_IDS = [
  'T1',
  'T2',
  'T3',
  'T4',
  'T5',
  'T6',
  'T7',
  'T8',
  'T9',
  'T10',
  'T11',
  'T12',
  'T13',
  'T14',
] as const

export type PatternId = (typeof PATTERN_IDS)[number]

/** How the instances of an undisturbed run live. */
export type Mode = 'alone' | 'elected' | 'pair'

/** What came of one point. */
export interface PointOutcome {
  /** Empty when the operator survived. */
  readonly problems: readonly string[]
  readonly differences: readonly Difference[]
  readonly trace: readonly TraceEntry[]
  /** False when the run took another way and never came to the point. */
  readonly hasStruck: boolean
  /** Proves that a replay is exact. */
  readonly traceHash: string
}

/** What patterns make their points from. */
export interface PatternContext {
  readonly operator: OperatorUnderTest
  readonly scenario: Scenario
  readonly seed: number
  /** Points of a pattern that is sampled. */
  readonly budget: number
  /** The undisturbed run in a mode; run once and remembered. */
  undisturbed(mode: Mode): Promise<ScenarioRun>
  /** Runs the scenario with a fault and compares it with the undisturbed run. */
  disturbed(mode: Mode, options: Partial<ScenarioRunOptions>): Promise<PointOutcome>
}

/** One place in a run where a fault strikes. */
export interface Point {
  /** Says where and what, for people. */
  readonly label: string
  run(): Promise<PointOutcome>
}

/** A pattern of faults. */
export interface Pattern {
  readonly id: PatternId
  readonly title: string
  /** Whether every point is tried, or as many as the budget allows. */
  readonly coverage: 'exhaustive' | 'sampled'
  points(context: PatternContext): Promise<readonly Point[]>
}

/** The outcome of a finished run. */
export function outcomeOf(run: ScenarioRun): PointOutcome {
  const { problems, differences, world, hasStruck } = run
  const trace = problems.length > 0 ? world.trace.excerpt() : []
  return { problems, differences, trace, hasStruck, traceHash: world.trace.hash() }
}
