/** Runs points of processes side by side, and repeats those that show something. */
import type { Explorer, PointObserver, PointRunner } from '../explore.ts'
import type { PointOutcome } from '../patterns/pattern.ts'
import type { PatternName } from '../patterns/pattern-names.ts'
import type { PointTask, Unconfirmed } from '../report/exploration-report.ts'
import type { RunSlots } from './run-slots.ts'

/** How often a divergence must show: real time is never the same twice. */
const CONFIRMATIONS = 3

/** Options of {@link concurrentRunner}. */
export interface ConcurrentRunnerOptions {
  readonly slots: RunSlots
  readonly onUnconfirmed: (found: Unconfirmed) => void
  /** Interrupts runs, whose results are then of no interest. @default never */
  readonly signal?: AbortSignal | undefined
}

/** A runner in which runs mostly wait for their processes. */
export function concurrentRunner(explorer: Explorer, options: ConcurrentRunnerOptions): PointRunner {
  return {
    points: async (patterns) => {
      const entries: [PatternName, Awaited<ReturnType<Explorer['points']>>][] = []
      // One after the other: several undisturbed runs at once would slow each other down, and set the pace.
      await unlessInterrupted(options.signal, async () => {
        for (const pattern of patterns) entries.push([pattern, await explorer.points(pattern)])
      })
      return new Map(entries)
    },
    run: async (tasks, observer) => {
      const inTurn = (task: PointTask) =>
        options.slots.run(async () => {
          if (!observer.isOver()) await runOne(explorer, task, observer, options)
        })
      await Promise.all(tasks.map(inTurn))
    },
  }
}

async function runOne(
  explorer: Explorer,
  task: PointTask,
  observer: PointObserver,
  { onUnconfirmed, signal }: ConcurrentRunnerOptions,
): Promise<void> {
  observer.begun(task)
  const startedMs = performance.now()
  const first = await unlessInterrupted(signal, () => explorer.run(task.pattern, task.point))
  if (first === undefined) return
  const outcome =
    first.problems.length === 0 || task.pattern === 'undisturbed'
      ? first
      : await unlessInterrupted(signal, () => repeated(explorer, task, first))
  if (outcome === undefined || (outcome !== first && outcome.problems.length === 0)) {
    const message = first.problems.map((problem) => problem.message).join('; ')
    const info = (await explorer.points(task.pattern))[task.point]
    const isCutOff = outcome === undefined
    onUnconfirmed({ pattern: task.pattern, label: info?.label ?? '', message, isCutOff })
  }
  if (outcome !== undefined) observer.done(task, outcome, performance.now() - startedMs)
}

/** `undefined` when the work was interrupted; whatever else fails, fails. */
export async function unlessInterrupted<R>(
  signal: AbortSignal | undefined,
  work: () => Promise<R>,
): Promise<R | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!signal?.aborted) throw error
    return undefined
  }
}

/** The outcome that shows least: without problems if one repetition has none. */
async function repeated(explorer: Explorer, task: PointTask, first: PointOutcome): Promise<PointOutcome> {
  let outcome = first
  for (let run = 1; run < CONFIRMATIONS; run++) {
    outcome = await explorer.run(task.pattern, task.point)
    if (outcome.problems.length === 0) return { ...outcome, tookEffect: first.tookEffect }
  }
  return outcome
}
