/** What a run is given, what a pattern may do during it, and what it returns. */
import type { Difference, EndState } from '../compare/difference.ts'
import type { Problem } from '../judge/problem.ts'
import type { Step } from '../operator-under-test.ts'
import type { Disturbance } from '../world/disturbance.ts'
import type { RunLimits } from '../world/run-bounds.ts'
import type { World } from '../world/world.ts'
import type { Baseline } from './baseline.ts'

/** What a pattern can do to the world of its run. */
export interface RunControl {
  readonly world: World
  /** Kills the instance now; another one starts a moment later. */
  crash(instance: number): void
  /** The same as the occasion for a fault, not as the fault itself. */
  replace(instance: number): void
  /** Sends the stop signal to the instance; another one starts when it has ended. */
  stop(instance: number): void
  /**
   * Records in the trace that the fault takes effect. A rest begins only after `lastsMs`: until then something may still
   * be in flight.
   */
  fault(text: string, lastsMs?: number): void
  /** Notes something in the trace that prepares the fault, or ends it. */
  note(text: string): void
  /**
   * No further step of the scenario is begun, except the deletion of everything where that follows. Returns the step in
   * progress.
   */
  end(): Step | undefined
  /** Records a problem that the end state would not show. */
  problem(kind: Problem['kind'], message: string): void
}

/** Options of `runScenario`. */
export interface ScenarioRunOptions {
  readonly seed: number
  /** What the run must agree with; without it the run is an undisturbed one, and checked on its own. */
  readonly expected?: Baseline
  readonly disturb?: (control: RunControl) => Disturbance
  /** Instances compete for a lease. @default false */
  readonly election?: boolean
  /** Instances that run side by side. @default 1 */
  readonly replicas?: number
  /** How long nothing may be written after a step to rest on. @default ten minutes, two with a lease */
  readonly restMs?: number
  /** Rest after every step, not only after those that request it. @default false */
  readonly restsAlways?: boolean
  /** Whether there is any rest. @default true */
  readonly rests?: boolean
  /** Delete everything declared after the last step. @default false */
  readonly endsEmpty?: boolean
  /** Creations of one object beyond those of the undisturbed run. @default 0 */
  readonly extraCreates?: number
  /** The same for deletions: a deletion whose response was lost is sent again. @default 1 */
  readonly extraDeletes?: number
  /**
   * Removals of one record outside the cluster beyond those of the undisturbed run. @default any number: what a crash or a
   * failed call made unusable may be removed and made again
   */
  readonly extraRemovals?: number
  /** Whether the number of writes is compared. @default true */
  readonly countsWrites?: boolean
  /** Whether instances may end by themselves, as one that lost its lease does. @default false */
  readonly mayFail?: boolean
  /** The first step after which the state must agree; before that, changes are in progress. @default 0 */
  readonly comparesFrom?: number
  /** Whether times are compared by the step in which they lie, or not at all. @default true */
  readonly comparesTimes?: boolean
  /** When the clock starts, in milliseconds since the epoch. @default 2030-01-01T00:00:00Z */
  readonly startMs?: number
  /** When a run that does not end is cut off; that is a problem of the run. @default see {@link RunLimits} */
  readonly limits?: RunLimits
}

/** What came of a run. */
export interface ScenarioRun {
  readonly problems: readonly Problem[]
  readonly differences: readonly Difference[]
  /** Both states of the objects that differ. */
  readonly endStates: readonly EndState[]
  readonly world: World
  readonly baseline: Baseline
  /** Whether the fault happened at all. */
  readonly tookEffect: boolean
}
