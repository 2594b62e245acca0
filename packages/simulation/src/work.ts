/** What the command line and its workers say to each other. */
import type { PatternId, PointOutcome } from './patterns/pattern.ts'

/** Where an exploration comes from: a module that exports it as `exploration`. */
export interface WorkerSetup {
  readonly modulePath: string
  readonly seed: number
  readonly budget: number
}

/** Something to do. */
export type Task =
  | { readonly type: 'baseline' }
  | { readonly type: 'labels'; readonly pattern: PatternId }
  | { readonly type: 'run'; readonly pattern: PatternId; readonly point: number }

/** What came of it; `error` when the exploration itself broke. */
export type Answer =
  | { readonly type: 'outcome'; readonly outcome: PointOutcome; readonly durationMs: number }
  | { readonly type: 'labels'; readonly labels: readonly string[] }
  | { readonly type: 'error'; readonly message: string }

/** `T9 point 7`, as messages name a task. */
export function describeTask(task: Task): string {
  switch (task.type) {
    case 'baseline':
      return 'the undisturbed run'
    case 'labels':
      return `the points of ${task.pattern}`
    case 'run':
      return `${task.pattern} point ${task.point}`
  }
}
