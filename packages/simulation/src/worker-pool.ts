/** Spreads the runs of an exploration over threads, each with a bound on its memory and on its silence. */
import { getCompileCacheDir } from 'node:module'
import { Worker } from 'node:worker_threads'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import { loadExploration } from './exploration-modules.ts'
import { type ExploreOptions, exploreWith, type PointRunner } from './explore.ts'
import { problem } from './judge/problem.ts'
import type { PointOutcome } from './patterns/pattern.ts'
import type { PatternName } from './patterns/pattern-names.ts'
import type { ExplorationReport, PointInfo, PointTask } from './report/exploration-report.ts'

/** Where an exploration comes from: a module that exports it as `exploration`. */
export interface WorkerSetup {
  readonly modulePath: string
  readonly seed: number
  readonly samples: number
}

/** Something to do. */
export type Task = { readonly type: 'points'; readonly pattern: PatternName } | ({ readonly type: 'run' } & PointTask)

/** What came of it; `error` when the exploration itself broke. */
export type Answer =
  | { readonly type: 'outcome'; readonly outcome: PointOutcome; readonly durationMs: number }
  | { readonly type: 'points'; readonly points: readonly PointInfo[] }
  | { readonly type: 'error'; readonly message: string }

/** `failed-request point 7`, as messages name a task. */
function describeTask(task: Task): string {
  return task.type === 'points' ? `the points of ${task.pattern}` : `${task.pattern} point ${task.point}`
}

/** Compiled beside this module in a published package, a source in a checkout. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url)

/** A run that broke in itself: a bug of the operator's description or of the exploration, not a divergence. */
export class ExplorationFailedError extends Error {
  override readonly name = 'ExplorationFailedError'
  readonly code = 'EXPLORATION_FAILED'
}

/** Options of {@link WorkerPool}. */
export interface WorkerPoolOptions {
  readonly threads: number
  /** Real time after which a thread that does not respond is abandoned. @default 10 minutes */
  readonly maxSilenceRealMs?: number
  /** Memory of each thread. @default 448 */
  readonly maxHeapMegabytes?: number
}

/** Called while tasks are performed. */
export interface TaskObserver<T extends Task> {
  /** A thread begins it. */
  begun?(task: T): void
  /** Called when a task has ended, in any order. */
  done(task: T, answer: Answer): void
  /** Called before each task: when true, no further one is begun. @default never */
  isOver?(): boolean
}

/**
 * Threads with the same exploration loaded. Every thread makes its own undisturbed runs once: they are the same
 * everywhere, and a snapshot costs more to send than to make.
 *
 * *Guarantees*: every run is accounted for. A thread that dies of it (out of memory, an uncaught error) or
 * says nothing for too long is replaced, and that is the outcome of the run.
 *
 * *Errors*: {@link ExplorationFailedError} when what is not a run breaks a thread, or a run breaks in itself.
 *
 * @example
 * await using pool = new WorkerPool({ modulePath, seed: 1, samples: 24 }, { threads: 2 })
 * await pool.all(tasks, { done: (task, answer) => report(task, answer) })
 */
export class WorkerPool implements AsyncDisposable {
  readonly #setup: WorkerSetup
  readonly #maxHeapMegabytes: number
  readonly #maxSilenceRealMs: number
  readonly #workers: Worker[]

  constructor(setup: WorkerSetup, options: WorkerPoolOptions) {
    this.#setup = setup
    this.#maxHeapMegabytes = options.maxHeapMegabytes ?? EXPLORATION_DEFAULTS.maxHeapMegabytes
    this.#maxSilenceRealMs = options.maxSilenceRealMs ?? EXPLORATION_DEFAULTS.maxSilenceRealMs
    this.#workers = Array.from({ length: options.threads }, () => this.#start())
  }

  /** Performs all tasks, unless the observer says that it is over. */
  async all<T extends Task>(tasks: readonly T[], observer: TaskObserver<T>): Promise<void> {
    let next = 0
    const work = async (thread: number) => {
      for (let task = tasks[next++]; task !== undefined; task = tasks[next++]) {
        if (observer.isOver?.()) return
        observer.begun?.(task)
        const answer = await this.#perform(thread, task)
        if (answer.type === 'error') throw new ExplorationFailedError(`${describeTask(task)}: ${answer.message}`)
        observer.done(task, answer)
      }
    }
    await Promise.all(this.#workers.map((_, thread) => work(thread)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }

  #start(): Worker {
    const compileCache = getCompileCacheDir()
    return new Worker(WORKER, {
      workerData: this.#setup,
      // Threads do not inherit the cache of a process that enabled it itself, and load everything again.
      env: { ...process.env, ...(compileCache !== undefined && { NODE_COMPILE_CACHE: compileCache }) },
      resourceLimits: { maxOldGenerationSizeMb: this.#maxHeapMegabytes },
    })
  }

  async #perform(thread: number, task: Task): Promise<Answer> {
    const worker = this.#workers[thread]
    if (worker === undefined) throw new RangeError(`there is no thread ${thread}`)
    const startedMs = performance.now()
    try {
      return await ask(worker, task, this.#maxSilenceRealMs)
    } catch (error) {
      await worker.terminate()
      this.#workers[thread] = this.#start()
      const lost = `the thread of the run was lost: ${error instanceof Error ? error.message : String(error)}`
      if (task.type !== 'run') return { type: 'error', message: lost }
      const problems = [problem('runaway', lost)]
      const outcome = { problems, differences: [], trace: [], tookEffect: true, traceHash: '' }
      return { type: 'outcome', outcome, durationMs: performance.now() - startedMs }
    }
  }
}

/** Rejects when the thread ends or says nothing for `maxMs`. */
function ask(worker: Worker, task: Task, maxMs: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${maxMs / 1_000} s of real time`)), maxMs)
  worker.once('message', resolve)
  worker.once('error', reject)
  const onExit = () => reject(new Error('the thread ended'))
  worker.once('exit', onExit)
  worker.postMessage(task)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', resolve)
    worker.off('error', reject)
    worker.off('exit', onExit)
  })
}

type RunTask = Extract<Task, { readonly type: 'run' }>

/** Options of {@link exploreInThreads}. */
export interface ExploreInThreadsOptions extends ExploreOptions {
  readonly threads: number
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
  const { seed = EXPLORATION_DEFAULTS.seed, samples = EXPLORATION_DEFAULTS.samples, threads, signal } = options
  const { operator, scenario } = await loadExploration(modulePath)
  await using pool = new WorkerPool({ modulePath, seed, samples }, { threads })
  const subject = { operator: operator.name, scenario: scenario.name, seed }
  // Awaited here: the pool ends with this function.
  return await exploreWith(sideBySide(pool, signal), subject, options)
}

/** Runs points in the threads of a pool. */
function sideBySide(pool: WorkerPool, signal: AbortSignal | undefined): PointRunner {
  return {
    points: async (patterns) => {
      const found = new Map<PatternName, readonly PointInfo[]>()
      const tasks = patterns.map((pattern) => ({ type: 'points', pattern }) as const)
      await pool.all(tasks, {
        done: ({ pattern }, answer) => {
          if (answer.type === 'points') found.set(pattern, answer.points)
        },
        isOver: () => signal?.aborted === true,
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
