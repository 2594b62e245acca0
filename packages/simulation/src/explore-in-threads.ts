/** The same exploration as `explore`, with its runs spread over the cores. */

import { EXPLORATION_DEFAULTS } from './defaults.ts'
import { choosePoints, type ExplorationReport, type ExploreOptions } from './explore.ts'
import { loadExploration } from './load-exploration.ts'
import { PATTERNS } from './patterns/index.ts'
import type { PatternId } from './patterns/pattern.ts'
import { ReportBuilder } from './report/report-builder.ts'
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
 * const report = await exploreInThreads('/repo/operators/webapp/exploration/webapp.ts', { threads: 2 })
 */
export async function exploreInThreads(
  modulePath: string,
  options: ExploreInThreadsOptions,
): Promise<ExplorationReport> {
  const { seed = EXPLORATION_DEFAULTS.seed, budget = EXPLORATION_DEFAULTS.budget, signal, threads } = options
  const { operator, scenario } = await loadExploration(modulePath)
  const collected = new ReportBuilder(operator.name, scenario.name, seed)
  await using pool = new WorkerPool({ modulePath, seed, budget }, { threads })
  let isSound = true
  await pool.all([{ type: 'baseline' } as const], {
    done: (_, answer) => {
      if (answer.type !== 'outcome' || answer.outcome.problems.length === 0) return
      isSound = false
      collected.undisturbed(answer.outcome)
    },
  })
  if (!isSound) return collected.report()
  const ids = options.patterns ?? PATTERNS.map(({ id }) => id)
  const labels = await labelsOf(pool, ids)
  const tasks = ids.flatMap((pattern): readonly RunTask[] => {
    const total = labels.get(pattern)?.length ?? 0
    const points = options.point === undefined ? choosePoints(total, options.maxPoints) : [options.point]
    collected.begin(pattern, total, points.length)
    return points.map((point) => ({ type: 'run', pattern, point }))
  })
  const report = (pattern: PatternId) => options.onProgress?.(collected.progress(pattern))
  let begun: PatternId | undefined
  await pool.all(
    tasks,
    {
      begun: ({ pattern }) => {
        if (pattern !== begun) report(pattern)
        begun = pattern
      },
      done: ({ pattern, point }, answer) => {
        if (answer.type !== 'outcome') return
        const label = labels.get(pattern)?.[point] ?? ''
        collected.add(pattern, point, label, answer.outcome, answer.durationMs)
        report(pattern)
      },
    },
    signal,
  )
  return collected.report()
}

async function labelsOf(
  pool: WorkerPool,
  ids: readonly PatternId[],
): Promise<ReadonlyMap<PatternId, readonly string[]>> {
  const labels = new Map<PatternId, readonly string[]>()
  await pool.all(
    ids.map((pattern) => ({ type: 'labels', pattern }) as const),
    {
      done: ({ pattern }, answer) => {
        if (answer.type === 'labels') labels.set(pattern, answer.labels)
      },
    },
  )
  return labels
}
