/** The same exploration as `explore`, with its runs spread over the cores. */

import { EXPLORATION_DEFAULTS } from './defaults.ts'
import { choosePoints, type ExplorationReport, type ExploreOptions, ReportBuilder } from './explore.ts'
import { loadExploration } from './load-exploration.ts'
import { PATTERNS } from './patterns/index.ts'
import type { PatternId } from './patterns/pattern.ts'
import type { Task } from './work.ts'
import { WorkerPool } from './worker-pool.ts'

/** Options of {@link exploreInThreads}. */
export interface ExploreInThreadsOptions extends ExploreOptions {
  readonly threads: number
  /** Only this point of each pattern. */
  readonly point?: number
}

type RunTask = Extract<Task, { type: 'run' }>

/**
 * Explores what a module exports as `exploration`.
 *
 * @example
 * const report = await exploreInThreads('/repo/operators/webapp/src/exploration.ts', { threads: 2 })
 */
export async function exploreInThreads(
  modulePath: string,
  options: ExploreInThreadsOptions,
): Promise<ExplorationReport> {
  const { seed = EXPLORATION_DEFAULTS.seed, budget = EXPLORATION_DEFAULTS.budget, signal } = options
  const { operator, scenario } = await loadExploration(modulePath)
  const collected = new ReportBuilder(operator.name, scenario.name, seed)
  await using pool = new WorkerPool({ modulePath, seed, budget }, options.threads)
  let isSound = true
  await pool.all([{ type: 'baseline' } as const], (_, answer) => {
    if (answer.type !== 'outcome' || answer.outcome.problems.length === 0) return
    isSound = false
    collected.undisturbed(answer.outcome)
  })
  if (!isSound) return collected.report()
  const labels = new Map<PatternId, readonly string[]>()
  const ids = options.patterns ?? PATTERNS.map(({ id }) => id)
  await pool.all(
    ids.map((pattern) => ({ type: 'labels', pattern }) as const),
    ({ pattern }, answer) => {
      if (answer.type === 'labels') labels.set(pattern, answer.labels)
    },
  )
  const tasks = ids.flatMap((pattern): readonly RunTask[] => {
    const total = labels.get(pattern)?.length ?? 0
    collected.begin(pattern, total)
    const points = options.point === undefined ? choosePoints(total, options.maxPoints) : [options.point]
    return points.map((point) => ({ type: 'run', pattern, point }))
  })
  let done = 0
  await pool.all(
    tasks,
    ({ pattern, point }, answer) => {
      if (answer.type !== 'outcome') return
      collected.add(pattern, point, labels.get(pattern)?.[point] ?? '', answer.outcome)
      options.onProgress?.({ pattern, done: ++done, total: tasks.length })
    },
    signal,
  )
  return collected.report()
}
