/** What the command line and its workers say to each other. */
import type { PointTask } from './explore-with.ts'
import type { PointInfo } from './explorer.ts'
import type { PointOutcome } from './patterns/pattern.ts'
import type { PatternName } from './patterns/pattern-names.ts'

/** Where an exploration comes from: a module that exports it as `exploration`. */
export interface WorkerSetup {
  readonly modulePath: string
  readonly seed: number
  readonly budget: number
}

/** Something to do. */
export type Task = { readonly type: 'points'; readonly pattern: PatternName } | ({ readonly type: 'run' } & PointTask)

/** What came of it; `error` when the exploration itself broke. */
export type Answer =
  | { readonly type: 'outcome'; readonly outcome: PointOutcome; readonly durationMs: number }
  | { readonly type: 'points'; readonly points: readonly PointInfo[] }
  | { readonly type: 'error'; readonly message: string }

/** `failed-request point 7`, as messages name a task. */
export function describeTask(task: Task): string {
  return task.type === 'points' ? `the points of ${task.pattern}` : `${task.pattern} point ${task.point}`
}
