/** Spreads independent runs over threads. */
import { Worker } from 'node:worker_threads'
import type { Answer, Task, WorkerSetup } from './work.ts'

/** A run that broke in itself: a bug of the operator's description or of the exploration, not a divergence. */
export class ExplorationFailedError extends Error {
  override readonly name = 'ExplorationFailedError'
  readonly code = 'EXPLORATION_FAILED'
}

/**
 * Threads with the same exploration loaded. Every thread makes its own undisturbed runs once: they are the same
 * everywhere, and a snapshot costs more to ship than to make.
 *
 * @example
 * await using pool = new WorkerPool({ modulePath, seed: 1, budget: 24 }, 2)
 * await pool.all(tasks, (task, answer) => report(task, answer))
 */
export class WorkerPool implements AsyncDisposable {
  readonly #workers: readonly Worker[]

  constructor(setup: WorkerSetup, threads: number) {
    const url = new URL('./worker.ts', import.meta.url)
    this.#workers = Array.from({ length: threads }, () => new Worker(url, { workerData: setup }))
  }

  /** Performs all tasks; `done` is told of each in the order in which they end. Stops early when `signal` aborts. */
  async all<T extends Task>(
    tasks: readonly T[],
    done: (task: T, answer: Answer) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    let next = 0
    const work = async (worker: Worker) => {
      for (let task = tasks[next++]; task !== undefined; task = tasks[next++]) {
        if (signal?.aborted) return
        const answer = await ask(worker, task)
        if (answer.type === 'error') throw new ExplorationFailedError(answer.message)
        done(task, answer)
      }
    }
    await Promise.all(this.#workers.map(work))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}

function ask(worker: Worker, task: Task): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onMessage = (answer: Answer) => {
      worker.off('error', onError)
      resolve(answer)
    }
    const onError = (error: unknown) => {
      worker.off('message', onMessage)
      reject(error)
    }
    worker.once('message', onMessage)
    worker.once('error', onError)
    worker.postMessage(task)
  })
}
