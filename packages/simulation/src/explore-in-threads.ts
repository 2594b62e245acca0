/** The same exploration as `explore`, with its runs spread over the cores. */
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import type { ExplorationReport, ExploreOptions } from './explore.ts'
import { exploreWith, type PointRunner } from './explore-with.ts'
import type { PointInfo } from './explorer.ts'
import { loadExploration } from './load-exploration.ts'
import type { PatternName } from './patterns/pattern-names.ts'
import type { Task } from './work.ts'
import { WorkerPool } from './worker-pool.ts'

type RunTask = Extract<Task, { readonly type: 'run' }>

/** Options of {@link exploreInThreads}. */
export interface ExploreInThreadsOptions extends ExploreOptions {
  readonly threads: number
  /** Only this point of each pattern. */
  readonly point?: number
}

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
  const { seed = EXPLORATION_DEFAULTS.seed, budget = EXPLORATION_DEFAULTS.budget, threads, point } = options
  const { operator, scenario } = await loadExploration(modulePath)
  await using pool = new WorkerPool({ modulePath, seed, budget }, { threads })
  const subject = { operator: operator.name, scenario: scenario.name, seed }
  // Awaited here: the pool ends with this function.
  return await exploreWith(sideBySide(pool), subject, options, point)
}

/** Runs points in the threads of a pool. */
function sideBySide(pool: WorkerPool): PointRunner {
  return {
    points: async (patterns) => {
      const found = new Map<PatternName, readonly PointInfo[]>()
      const tasks = patterns.map((pattern) => ({ type: 'points', pattern }) as const)
      await pool.all(tasks, {
        done: ({ pattern }, answer) => {
          if (answer.type === 'points') found.set(pattern, answer.points)
        },
      })
      return found
    },
    run: (tasks, { begun, done, isOver }) =>
      pool.all<RunTask>(
        tasks.map((task): RunTask => ({ type: 'run', ...task })),
        {
          begun,
          done: (task, answer) => {
            if (answer.type === 'outcome') done(task, answer.outcome, answer.durationMs)
          },
          isOver,
        },
      ),
  }
}
