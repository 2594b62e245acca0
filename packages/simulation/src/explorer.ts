/** Knows the points of every pattern for one operator and scenario, and runs any of them by its number. */
import { ChosenValues } from './compare/chosen-values.ts'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import type { Exploration } from './operator-under-test.ts'
import { PATTERNS } from './patterns/index.ts'
import {
  type Mode,
  outcomeOf,
  type Pattern,
  type PatternContext,
  type Point,
  type PointOutcome,
} from './patterns/pattern.ts'
import { type PatternReference, patternName } from './patterns/pattern-names.ts'
import type { ScenarioRun } from './run/run-options.ts'
import { runScenario } from './run/scenario-run.ts'

/** Options of {@link Explorer}. */
export interface ExplorerOptions {
  /** @default 1 */
  readonly seed?: number
  /** Points of each pattern that is sampled. @default 24 */
  readonly budget?: number
  /** How many shorter or simpler walks are tried when one fails. @default 40, and none for processes: each takes a minute */
  readonly maxShrinkRuns?: number
}

/** What is known of a point without running it. */
export type PointInfo = Pick<Point, 'label' | 'shape'>

/** The instances of each mode. */
const MODES: Readonly<Record<Mode, { readonly election: boolean; readonly replicas: number }>> = {
  alone: { election: false, replicas: 1 },
  elected: { election: true, replicas: 1 },
  pair: { election: true, replicas: 2 },
}

/** The run that shows which values are generated differs in its seed and time. */
const OTHER_SEED = 7_919
const OTHER_START_MS = Date.UTC(2031, 4, 17, 11, 23, 42, 987)

/**
 * The points of one operator and scenario.
 *
 * *Guarantee*: the same seed gives the same points in the same order, and the same point the same run, in any process.
 *
 * @example
 * const explorer = new Explorer({ operator, scenario }, { seed: 1 })
 * const { problems } = await explorer.run('crash-after-write', 7)
 */
export class Explorer {
  readonly #exploration: Exploration
  readonly #seed: number
  readonly #budget: number
  readonly #maxShrinkRuns: number
  readonly #undisturbed = new Map<Mode, Promise<ScenarioRun>>()
  #otherSeed: Promise<ScenarioRun> | undefined
  readonly #points = new Map<Pattern, Promise<readonly Point[]>>()

  constructor(exploration: Exploration, options: ExplorerOptions = {}) {
    this.#exploration = exploration
    this.#seed = options.seed ?? EXPLORATION_DEFAULTS.seed
    this.#budget = options.budget ?? EXPLORATION_DEFAULTS.budget
    const isProcess = exploration.operator.realTime !== undefined
    this.#maxShrinkRuns = options.maxShrinkRuns ?? (isProcess ? 0 : EXPLORATION_DEFAULTS.maxShrinkRuns)
  }

  /** The points of a pattern, in order. */
  async points(pattern: PatternReference): Promise<readonly PointInfo[]> {
    const points = await this.#pointsOf(patternOf(pattern))
    return points.map(({ label, shape }) => ({ label, shape }))
  }

  /** Runs one point. */
  async run(pattern: PatternReference, index: number): Promise<PointOutcome> {
    const points = await this.#pointsOf(patternOf(pattern))
    const point = points[index]
    if (point === undefined) {
      throw new RangeError(`${pattern} has no point ${index}: it has ${points.length} for seed ${this.#seed}`)
    }
    return point.run()
  }

  #pointsOf(pattern: Pattern): Promise<readonly Point[]> {
    let points = this.#points.get(pattern)
    if (points === undefined) {
      points = pattern.points(this.#context())
      this.#points.set(pattern, points)
    }
    return points
  }

  #context(): PatternContext {
    const { operator, scenario } = this.#exploration
    return {
      operator,
      scenario,
      seed: this.#seed,
      budget: this.#budget,
      maxShrinkRuns: this.#maxShrinkRuns,
      undisturbed: (mode) => this.#runUndisturbed(mode),
      withOtherSeed: () => this.#runWithOtherSeed(),
      disturbed: async (mode, options) => {
        const { baseline } = await this.#runUndisturbed(mode)
        return outcomeOf(
          await runScenario(operator, scenario, { ...MODES[mode], seed: this.#seed, expected: baseline, ...options }),
        )
      },
    }
  }

  #runUndisturbed(mode: Mode): Promise<ScenarioRun> {
    const { operator, scenario } = this.#exploration
    let run = this.#undisturbed.get(mode)
    if (run === undefined) {
      run = runScenario(operator, scenario, { ...MODES[mode], seed: this.#seed }).then(async (undisturbed) => {
        const chosen = await this.#chosenValues(mode === 'alone' ? undisturbed : undefined)
        return { ...undisturbed, baseline: { ...undisturbed.baseline, chosen } }
      })
      this.#undisturbed.set(mode, run)
    }
    return run
  }

  /** Whatever differs in a run with another seed, at another time, is generated anew in every run. */
  async #chosenValues(undisturbed: ScenarioRun | undefined): Promise<ChosenValues> {
    if (undisturbed === undefined) return (await this.#runUndisturbed('alone')).baseline.chosen
    const other = await this.#runWithOtherSeed()
    return ChosenValues.learn(undisturbed.baseline.snapshots, other.baseline.snapshots)
  }

  #runWithOtherSeed(): Promise<ScenarioRun> {
    const { operator, scenario } = this.#exploration
    this.#otherSeed ??= runScenario(operator, scenario, {
      ...MODES.alone,
      seed: this.#seed + OTHER_SEED,
      startMs: OTHER_START_MS,
    })
    return this.#otherSeed
  }
}

function patternOf(reference: string): Pattern {
  const name = patternName(reference)
  const pattern = PATTERNS.find((candidate) => candidate.name === name)
  if (pattern === undefined) throw new RangeError(`unknown pattern "${reference}"`)
  return pattern
}
