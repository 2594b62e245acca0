import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import {
  type Answer,
  ExplorationFailedError,
  type Task,
  WorkerPool,
  type WorkerPoolOptions,
} from '../src/worker-pool.ts'

const run = (pattern: 'crash-after-write' | 'relist', point: number): Task => ({ type: 'run', pattern, point })

/** What is wrong with each run, in one thread. */
async function problemsOf(
  module: string,
  tasks: readonly Task[],
  options: Partial<WorkerPoolOptions> = {},
): Promise<readonly (readonly string[])[]> {
  const modulePath = fileURLToPath(new URL(`./support/${module}.ts`, import.meta.url))
  await using pool = new WorkerPool({ modulePath, seed: 1, samples: 4 }, { threads: 1, ...options })
  const answers: Answer[] = []
  await pool.all(tasks, { done: (_, answer) => answers.push(answer) })
  return answers.map((answer) =>
    answer.type === 'outcome' ? answer.outcome.problems.map(({ message }) => message) : [answer.type],
  )
}

it('a run that kills its thread has diverged, and the next one has a new thread', async () => {
  const [killed, next] = await problemsOf('lethal', [run('crash-after-write', 0), run('relist', 0)])
  expect(killed).toEqual(['the thread of the run was lost: rejected without a handler'])
  expect(next).toEqual([])
})

it('a run that eats all memory of its thread has diverged', async () => {
  const [[problem] = []] = await problemsOf('greedy', [run('crash-after-write', 0)], { maxHeapMegabytes: 128 })
  expect(problem).toMatch(/the thread of the run was lost: .*memory/)
})

it('a silent thread is terminated', async () => {
  const impatient = { maxSilenceRealMs: 10 }
  expect(await problemsOf('lethal', [run('crash-after-write', 0)], impatient)).toEqual([
    ['the thread of the run was lost: no answer within 0.01 s of real time'],
  ])
  const failure = problemsOf('lethal', [{ type: 'points', pattern: 'relist' }], impatient)
  await expect(failure).rejects.toThrow(ExplorationFailedError)
  await expect(failure).rejects.toThrow('the points of relist: the thread of the run was lost')
})

it('a task that fails names its point', async () => {
  await expect(problemsOf('nowhere', [run('relist', 3)])).rejects.toThrow(
    /^relist point 3: .*nowhere\.ts cannot be loaded/,
  )
})
