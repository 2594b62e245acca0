/** What a pattern of faults is: a list of points, each of which is one run. */
import type { Difference, EndState } from '../compare/difference.ts'
import type { Problem } from '../judge/problem.ts'
import type { OperatorUnderTest, Scenario } from '../operator-under-test.ts'
import type { RunControl, ScenarioRun, ScenarioRunOptions } from '../run/run-options.ts'
import type { Disturbance } from '../world/disturbance.ts'
import type { TraceEntry } from '../world/trace.ts'
import type { PatternName } from './pattern-names.ts'

/** How the instances of an undisturbed run live. */
export type Mode = 'alone' | 'elected' | 'pair'

/** What came of one point. */
export interface PointOutcome {
  /** Empty when the operator survived. */
  readonly problems: readonly Problem[]
  readonly differences: readonly Difference[]
  /** Both states of objects that differ. @default unknown */
  readonly endStates?: readonly EndState[]
  readonly trace: readonly TraceEntry[]
  /** False when the run never reached the point, or the fault found nothing to act on. */
  readonly tookEffect: boolean
  /** Proves that a replay is exact. */
  readonly traceHash: string
}

/** What patterns make their points from. */
export interface PatternContext {
  readonly operator: OperatorUnderTest
  readonly scenario: Scenario
  readonly seed: number
  /** Points of a pattern that is sampled. */
  readonly samples: number
  /** How many shorter or simpler walks are tried when one fails. */
  readonly maxShrinkRuns: number
  /** The undisturbed run in a mode; run once and cached. */
  undisturbed(mode: Mode): Promise<ScenarioRun>
  /** An undisturbed run that differs in its seed and in its time. */
  withOtherSeed(): Promise<ScenarioRun>
  /** Runs the scenario with a fault and compares it with the undisturbed run. */
  disturbed(mode: Mode, options: Partial<ScenarioRunOptions>): Promise<PointOutcome>
}

/**
 * What a point has in common with others that are likely to show the same: coarse, such as `create configmaps`, and fine,
 * such as `default/shop`. Where not every point is tried, one of each shape comes first.
 */
export interface Shape {
  readonly coarse: string
  readonly fine: string
}

/** One place in a run where a fault is injected. */
export interface Point {
  /** Says where and what, for people. */
  readonly label: string
  readonly shape: Shape
  run(): Promise<PointOutcome>
}

/** A fault at one point of a run. */
export interface Fault {
  readonly label: string
  readonly shape: Shape
  readonly mode: Mode
  readonly disturb: (control: RunControl) => Disturbance
  /** Further options of the run. @default nothing */
  readonly options?: Partial<ScenarioRunOptions>
}

/** The point at which a fault is injected. */
export function pointOf(context: PatternContext, { label, shape, mode, disturb, options }: Fault): Point {
  return { label, shape, run: () => context.disturbed(mode, { ...options, disturb }) }
}

/**
 * Whether all points of a pattern are run: `exhaustive`, every point of the scenario; `sampled`, a choice made at random;
 * `bounded`, the first ones of an order in which every prefix covers as much as possible.
 */
export type Coverage = 'exhaustive' | 'sampled' | 'bounded'

/** A pattern of faults. */
export interface Pattern {
  readonly name: PatternName
  /** A few words on what happens. */
  readonly title: string
  readonly coverage: Coverage
  /** Whether nothing is injected, so that there is nothing to take effect. @default false */
  readonly isFaultless?: boolean
  points(context: PatternContext): Promise<readonly Point[]>
}

/** The outcome of a finished run. */
export function outcomeOf(run: ScenarioRun): PointOutcome {
  const { problems, differences, endStates, world, tookEffect } = run
  const { trace } = world.log
  return {
    problems,
    differences,
    ...(endStates.length > 0 && { endStates }),
    trace: problems.length > 0 ? trace.excerpt() : [],
    tookEffect,
    traceHash: trace.hash(),
  }
}
