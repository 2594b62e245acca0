/** Knows the points of every pattern for one operator and scenario, and runs any of them by its number. */
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import type { Exploration } from './operator-under-test.ts'
import { PATTERNS } from './patterns/index.ts'
import {
  type Mode,
  outcomeOf,
  type Pattern,
  type PatternContext,
  type PatternId,
  type Point,
  type PointOutcome,
} from './patterns/pattern.ts'
import { runScenario, type ScenarioRun } from './scenario-run.ts'

/** Options of {@link Explorer}. */
export interface ExplorerOptions {
  /** @default 1 */
  readonly seed?: number
  /** Points of each pattern that is sampled. @default 24 */
  readonly budget?: number
}

/** How instances live in each mode. A rest with a lease is short: renewals are requests too. */
const MODES: Readonly<
  Record<Mode, { readonly election: boolean; readonly replicas: number; readonly restMs: number }>
> = {
  alone: { election: false, replicas: 1, restMs: EXPLORATION_DEFAULTS.restMs },
  elected: { election: true, replicas: 1, restMs: EXPLORATION_DEFAULTS.electedRestMs },
  pair: { election: true, replicas: 2, restMs: EXPLORATION_DEFAULTS.electedRestMs },
}

/**
 * The points of one operator and scenario.
 *
 * *Guarantee*: the same seed gives the same points in the same order, and the same point the same run, in any process.
 *
 * @example
 * const explorer = new Explorer({ operator, scenario }, { seed: 1 })
 * const { problems } = await explorer.run('T1', 7)
 */
export class Explorer {
  readonly #exploration: Exploration
  readonly #seed: number
  readonly #budget: number
  readonly #undisturbed = new Map<Mode, Promise<ScenarioRun>>()
  readonly #points = new Map<PatternId, Promise<readonly Point[]>>()

  constructor(exploration: Exploration, options: ExplorerOptions = {}) {
    this.#exploration = exploration
    this.#seed = options.seed ?? EXPLORATION_DEFAULTS.seed
    this.#budget = options.budget ?? EXPLORATION_DEFAULTS.budget
  }

  /** Problems of the undisturbed run itself: with any of them, comparing with it means nothing. */
  async baselineProblems(): Promise<PointOutcome> {
    return outcomeOf(await this.#runUndisturbed('alone'))
  }

  /** What each point of a pattern does, in order. */
  async labels(id: PatternId): Promise<readonly string[]> {
    return (await this.#pointsOf(id)).map(({ label }) => label)
  }

  /** Runs one point. */
  async run(id: PatternId, index: number): Promise<PointOutcome> {
    const points = await this.#pointsOf(id)
    const point = points[index]
    if (point === undefined) {
      throw new RangeError(`${id} has no point ${index}: it has ${points.length} for seed ${this.#seed}`)
    }
    return point.run()
  }

  #pointsOf(id: PatternId): Promise<readonly Point[]> {
    let points = this.#points.get(id)
    if (points === undefined) {
      points = patternOf(id).points(this.#context())
      this.#points.set(id, points)
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
      undisturbed: (mode) => this.#runUndisturbed(mode),
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
      run = runScenario(operator, scenario, { ...MODES[mode], seed: this.#seed })
      this.#undisturbed.set(mode, run)
    }
    return run
  }
}

function patternOf(id: PatternId): Pattern {
  const pattern = PATTERNS.find((candidate) => candidate.id === id)
  if (pattern === undefined) throw new RangeError(`there is no pattern ${id}`)
  return pattern
}
