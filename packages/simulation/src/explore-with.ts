/** The course of an exploration, wherever its runs are performed: the undisturbed run first, then every chosen point. */
import { byCoverage, coverageRounds, shapeName } from './choose-points.ts'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import type { ExplorationReport, ExploreOptions } from './explore.ts'
import type { PointInfo } from './explorer.ts'
import { PATTERNS } from './patterns/index.ts'
import type { PointOutcome } from './patterns/pattern.ts'
import { PATTERN_NAMES, type PatternName, patternName } from './patterns/pattern-names.ts'
import { ReportBuilder } from './report/report-builder.ts'

/** One point to run. */
export interface PointTask {
  readonly pattern: PatternName
  readonly point: number
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

/** What a report is about. */
export interface ExplorationSubject {
  readonly operator: string
  readonly scenario: string
  readonly seed: number
}

/** Taken before a world replaces it: the limit is one of real time. */
const realNow = performance.now.bind(performance)

/**
 * Explores with a runner. If the undisturbed run fails, nothing is compared with it: the report contains only
 * its problems.
 *
 * @param point only this point of each pattern, to replay it
 */
export async function exploreWith(
  runner: PointRunner,
  subject: ExplorationSubject,
  options: ExploreOptions,
  point?: number,
): Promise<ExplorationReport> {
  const { maxSeconds = Number.POSITIVE_INFINITY, stopAfter = Number.POSITIVE_INFINITY, signal, onProgress } = options
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
        point === undefined && options.only === undefined ? chosen(pattern, points, options) : points.keys().toArray()
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
  const { only } = options
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
