/** Explores one operator: the points of every pattern, and the course through them, wherever the runs are performed. */
import { byCoverage, coverageRounds, shapeName } from './choose-points.ts'
import { ChosenValues } from './compare/chosen-values.ts'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import type { Exploration, OperatorUnderTest, Scenario } from './operator-under-test.ts'
import { PATTERNS } from './patterns/index.ts'
import {
  type Mode,
  outcomeOf,
  type Pattern,
  type PatternContext,
  type Point,
  type PointOutcome,
} from './patterns/pattern.ts'
import { PATTERN_NAMES, type PatternName, type PatternReference, patternName } from './patterns/pattern-names.ts'
import {
  type ExplorationReport,
  type ExplorationSubject,
  type PointInfo,
  type PointTask,
  type Progress,
  ReportBuilder,
} from './report/exploration-report.ts'
import type { ScenarioRun } from './run/run-options.ts'
import { runScenario } from './run/scenario-run.ts'

/** Taken before a world replaces it: the limit is one of real time. */
const realNow = performance.now.bind(performance)

/** Options of {@link explore}. */
export interface ExploreOptions {
  /** By name or number. @default all of them */
  readonly patterns?: readonly PatternReference[]
  /** Points of each pattern that is sampled. @default 24 */
  readonly samples?: number
  /** Pairs of faults, of `two-faults`. @default 100 */
  readonly pairs?: number | 'all'
  /** Only this point of each pattern, to replay it. @default all */
  readonly point?: number
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

/** Called while points are run. */
export interface PointObserver {
  begun(task: PointTask): void
  done(task: PointTask, outcome: PointOutcome, durationMs: number): void
  /** Called before each run. */
  isOver(): boolean
}

/** Runs points, in this thread or in others. */
export interface PointRunner {
  points(patterns: readonly PatternName[]): Promise<ReadonlyMap<PatternName, readonly PointInfo[]>>
  run(tasks: readonly PointTask[], observer: PointObserver): Promise<void>
}

/**
 * Explores with a runner. If the undisturbed run fails, nothing is compared with it: the report contains only
 * its problems.
 */
export async function exploreWith(
  runner: PointRunner,
  subject: ExplorationSubject,
  options: ExploreOptions,
): Promise<ExplorationReport> {
  const { maxSeconds = Number.POSITIVE_INFINITY, stopAfter = Number.POSITIVE_INFINITY } = options
  const { point, only, signal, onProgress } = options
  const endsMs = realNow() + maxSeconds * 1_000
  const report = new ReportBuilder(subject)
  const names = resolved(options.patterns)
  const infos = new Map<PatternName, readonly PointInfo[]>()
  let latest: PatternName | undefined
  const observer: PointObserver = {
    begun: ({ pattern }) => {
      if (pattern !== latest) onProgress?.(report.progress(pattern))
      latest = pattern
    },
    done: (task, outcome, durationMs) => {
      const info = infos.get(task.pattern)?.[task.point]
      if (info !== undefined) report.add(task, info, outcome, durationMs)
      onProgress?.(report.progress(task.pattern))
    },
    isOver: () => signal?.aborted === true || report.divergences >= stopAfter || realNow() >= endsMs,
  }
  const prepare = async (patterns: readonly PatternName[], isWanted: (task: PointTask) => boolean) => {
    for (const [pattern, points] of await runner.points(patterns)) infos.set(pattern, points)
    return patterns.flatMap((pattern) => {
      const points = infos.get(pattern)
      // Its points are unknown if the exploration ended before.
      if (points === undefined) return []
      const indices =
        point === undefined && only === undefined ? chosen(pattern, points, options) : points.keys().toArray()
      const wanted = indices.map((index) => ({ pattern, point: index })).filter(isWanted)
      report.begin(pattern, points, wanted.length)
      return wanted
    })
  }
  // Without the undisturbed run there is nothing to compare with; all of its points only when it is requested.
  const isAsked = names.includes('undisturbed')
  const first = await prepare(['undisturbed'], (task) =>
    isAsked ? point === undefined || task.point === point : task.point === 0,
  )
  // One that is wrong is enough: the others are likely to fail in the same way.
  await runner.run(first, { ...observer, isOver: () => signal?.aborted === true || report.divergences > 0 })
  if (report.divergences > 0) return report.report()
  if (!isAsked) report.forget('undisturbed')
  const others = names.filter((name) => name !== 'undisturbed')
  const isShape = ({ pattern, point: index }: PointTask) => {
    const shape = infos.get(pattern)?.[index]?.shape
    return only === undefined || (shape !== undefined && shapeName(shape) === only)
  }
  const tasks = await prepare(others, (task) => (point === undefined || task.point === point) && isShape(task))
  const isHurried = Number.isFinite(maxSeconds)
  await runner.run(isHurried ? inRounds(tasks, infos) : tasks, observer)
  return report.report()
}

function resolved(given: ExploreOptions['patterns']): readonly PatternName[] {
  if (given === undefined) return PATTERN_NAMES
  return given.map((reference) => {
    const name = patternName(reference)
    if (name === undefined)
      throw new RangeError(`unknown pattern "${reference}"; use one of ${PATTERN_NAMES.join(', ')}`)
    return name
  })
}

/** Indices of the points to run: all, or as many as allowed, those that show most. */
function chosen(
  pattern: PatternName,
  points: readonly PointInfo[],
  { maxPoints: max = Number.POSITIVE_INFINITY, pairs = EXPLORATION_DEFAULTS.pairs }: ExploreOptions,
): readonly number[] {
  const all = points.map((_, index) => index)
  // In the order of a covering design already.
  if (isBounded(pattern)) return all.slice(0, Math.min(max, pairs === 'all' ? all.length : pairs))
  if (max >= all.length) return all
  return byCoverage(points.map(({ shape }) => shape))
    .slice(0, max)
    .toSorted((one, other) => one - other)
}

function isBounded(name: PatternName): boolean {
  return PATTERNS.some((pattern) => pattern.name === name && pattern.coverage === 'bounded')
}

/**
 * A round of each pattern before the next round of any, and within a round one point of each pattern in turn: whatever
 * time there is, it is spent on what differs most, and no pattern waits for a larger one.
 */
export function inRounds(
  tasks: readonly PointTask[],
  infos: ReadonlyMap<PatternName, readonly PointInfo[]>,
): readonly PointTask[] {
  const places = new Map<string, readonly [round: number, turn: number]>()
  for (const [pattern, points] of infos) {
    for (const [round, indices] of coverageRounds(points.map(({ shape }) => shape)).entries())
      for (const [turn, index] of indices.entries()) places.set(`${pattern} ${index}`, [round, turn])
  }
  const ranked = tasks.map((task) => {
    const [round, turn] = places.get(`${task.pattern} ${task.point}`) ?? [0, 0]
    return { task, rank: [round, turn, PATTERN_NAMES.indexOf(task.pattern), task.point] as const }
  })
  ranked.sort(({ rank: one }, { rank: other }) => {
    const at = one.findIndex((value, index) => value !== other[index])
    return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0)
  })
  return ranked.map(({ task }) => task)
}

/** Options of {@link Explorer}. */
export interface ExplorerOptions {
  /** @default 1 */
  readonly seed?: number
  /** Points of each pattern that is sampled. @default 24 */
  readonly samples?: number
  /** How many shorter or simpler walks are tried when one fails. @default 40, and none for processes: each takes a minute */
  readonly maxShrinkRuns?: number
}

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
  readonly #samples: number
  readonly #maxShrinkRuns: number
  readonly #undisturbed = new Map<Mode, Promise<ScenarioRun>>()
  #otherSeed: Promise<ScenarioRun> | undefined
  readonly #points = new Map<Pattern, Promise<readonly Point[]>>()

  constructor(exploration: Exploration, options: ExplorerOptions = {}) {
    this.#exploration = exploration
    this.#seed = options.seed ?? EXPLORATION_DEFAULTS.seed
    this.#samples = options.samples ?? EXPLORATION_DEFAULTS.samples
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
      samples: this.#samples,
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
