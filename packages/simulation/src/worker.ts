/** Runs points in a separate thread, one at a time. */
import { parentPort, workerData } from 'node:worker_threads'
import { loadExploration } from './exploration-modules.ts'
import { Explorer } from './explore.ts'
import type { Answer, Task, WorkerSetup } from './worker-pool.ts'

const port = parentPort
if (port !== null) {
  // The data is what the pool passed when it started this thread.
  const { modulePath, seed, samples } = workerData as WorkerSetup
  const explorer = loadExploration(modulePath).then((exploration) => new Explorer(exploration, { seed, samples }))
  // Reported with the first task; until then nothing listens.
  explorer.catch(() => undefined)
  port.on('message', (task: Task) => {
    perform(explorer, task).then(
      (answer) => port.postMessage(answer),
      (error: unknown) => {
        const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
        port.postMessage({ type: 'error', message } satisfies Answer)
      },
    )
  })
}

async function perform(ready: Promise<Explorer>, task: Task): Promise<Answer> {
  const explorer = await ready
  if (task.type === 'points') return { type: 'points', points: await explorer.points(task.pattern) }
  const startedMs = performance.now()
  const outcome = await explorer.run(task.pattern, task.point)
  return { type: 'outcome', outcome, durationMs: performance.now() - startedMs }
}
