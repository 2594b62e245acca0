/** A thread that runs targets, with an eye on whether it still does. */
import { Worker } from 'node:worker_threads'
import { HANG_FLOOR_MS, THREAD_LIMITS } from './defaults.ts'
import type { Search, SearchObserver, SearchResult } from './fuzz-loop.ts'
import { allowedMs, type Bounds, type Problem, type Verdict } from './judge.ts'
import { TargetError } from './load-target.ts'
import { CurrentInput, type Report, type Task } from './messages.ts'

const LOOK_EVERY_MS = 250

/** The thread hung or died on an input; it has been ended, and the next call starts another. */
export class ThreadLostError extends Error {
  override readonly name = 'ThreadLostError'
  readonly code = 'THREAD_LOST'
  readonly problem: Problem
  readonly input: Uint8Array

  constructor(problem: Problem, input: Uint8Array) {
    super(problem.details)
    this.problem = problem
    this.input = input
  }
}

/** Options of {@link FuzzThread}. */
export interface FuzzThreadOptions {
  /** Real time that any input may take. @default 15_000 */
  readonly hangFloorMs?: number
}

/**
 * One thread; calls come one after the other. A thread that is lost is replaced by the next call.
 *
 * *Errors*: {@link ThreadLostError} with the input that was the end of it, {@link TargetError} when the target cannot be
 * loaded.
 *
 * @example
 * await using thread = new FuzzThread()
 * const progress = await thread.fuzz(path, search, observer)
 */
export class FuzzThread implements AsyncDisposable {
  readonly #hangFloorMs: number
  #running: { readonly worker: Worker; readonly current: CurrentInput } | undefined

  constructor(options: FuzzThreadOptions = {}) {
    this.#hangFloorMs = options.hangFloorMs ?? HANG_FLOOR_MS
  }

  /** Searches with the target in the file `path`. */
  async fuzz(path: string, search: Search, observer: SearchObserver, signal?: AbortSignal): Promise<SearchResult> {
    const last = await this.#ask({ type: 'fuzz', path, search }, search, observer, signal)
    if (last.type !== 'searched') throw new TypeError(`unexpected ${last.type}`)
    return last.result
  }

  /** Judges one input. */
  async judge(path: string, input: Uint8Array, bounds: Bounds = {}): Promise<Verdict> {
    const last = await this.#ask({ type: 'judge', path, input, bounds }, bounds, { found: () => undefined })
    if (last.type !== 'judged') throw new TypeError(`unexpected ${last.type}`)
    return last.verdict
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = this.#running
    this.#running = undefined
    await running?.worker.terminate()
  }

  async #ask(task: Task, bounds: Bounds, observer: SearchObserver, signal?: AbortSignal): Promise<Report> {
    this.#running ??= start()
    const { worker, current } = this.#running
    const { promise, resolve, reject } = Promise.withResolvers<Report>()
    const lost = (problem: Problem) => reject(new ThreadLostError(problem, current.input))
    const onMessage = (report: Report) => {
      if (report.type === 'progress') observer.progress?.(report.progress)
      else if (report.type === 'learned') observer.learned?.(report.input, report.outcome)
      else if (report.type === 'found') observer.found(report.problem, report.input)
      else if (report.type === 'failed') reject(new TargetError(report.message))
      else resolve(report)
    }
    const onError = (error: unknown) => lost(exitProblem(error))
    const onExit = (code: number) => lost(exitProblem(new Error(`the thread ended with code ${code}`)))
    const stop = () => worker.postMessage({ type: 'stop' } satisfies Task)
    const watching = watch(current, (input, waitedMs) => {
      if (waitedMs < Math.max(this.#hangFloorMs, 3 * allowedMs(input.length, bounds))) return
      lost({
        kind: 'hang',
        signature: 'hang',
        details: `no end after ${(waitedMs / 1_000).toFixed(1)} s for ${input.length} bytes`,
      })
    })
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
    signal?.addEventListener('abort', stop)
    try {
      worker.postMessage(task)
      if (signal?.aborted) stop()
      return await promise
    } catch (error) {
      await this[Symbol.asyncDispose]()
      throw error
    } finally {
      clearInterval(watching)
      signal?.removeEventListener('abort', stop)
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
  }
}

function start(): { readonly worker: Worker; readonly current: CurrentInput } {
  const current = new CurrentInput()
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: current.memory,
    resourceLimits: THREAD_LIMITS,
    // Flags of a test runner are not for this thread.
    execArgv: [],
  })
  return { worker, current }
}

/** How long the current input has been running. Before the first input, this is the time of loading. */
function watch(current: CurrentInput, onStuck: (input: Uint8Array, waitedMs: number) => void): NodeJS.Timeout {
  let { number } = current
  let sinceMs = performance.now()
  const first = number
  return setInterval(() => {
    const seen = current.number
    if (seen !== number) {
      number = seen
      sinceMs = performance.now()
    } else if (number !== first) onStuck(current.input, performance.now() - sinceMs)
  }, LOOK_EVERY_MS)
}

function exitProblem(error: unknown): Problem {
  const { code, message, stack } = error as {
    readonly code?: string
    readonly message?: string
    readonly stack?: string
  }
  const isMemory = code === 'ERR_WORKER_OUT_OF_MEMORY'
  const signature = isMemory ? 'out of memory' : `exit ${String(message)}`
  return { kind: isMemory ? 'memory' : 'exit', signature, details: stack ?? String(message ?? error) }
}
