/** Runs targets in a separate thread, so that one that hangs can be terminated. */
import { parentPort, workerData } from 'node:worker_threads'
import { messageShape } from './attempt.ts'
import { fuzz, type SearchObserver } from './fuzz-loop.ts'
import { Judge } from './judge.ts'
import { loadTarget } from './load-target.ts'
import { CurrentInput, type Report, type Task } from './messages.ts'

const port = parentPort
if (port !== null) {
  // What the supervisor passed when it started this thread.
  const current = new CurrentInput(workerData as SharedArrayBuffer)
  let stop = new AbortController()
  const tell = (report: Report) => port.postMessage(report)
  port.on('message', (task: Task) => {
    if (task.type === 'stop') {
      stop.abort()
      return
    }
    stop = new AbortController()
    perform(task, current, tell, stop.signal).then(tell, (error: unknown) => {
      tell({ type: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    })
  })
}

async function perform(
  task: Exclude<Task, { type: 'stop' }>,
  current: CurrentInput,
  tell: (report: Report) => void,
  signal: AbortSignal,
): Promise<Report> {
  const target = await loadTarget(task.path)
  const starts = (input: Uint8Array) => {
    current.input = input
  }
  if (task.type === 'judge') {
    const judge = new Judge(target, task.bounds, starts)
    return { type: 'judged', verdict: await judge.judge(task.input) }
  }
  const known = new Set<string>()
  // Whatever writes warnings to the standard error because of its input fills the log of an operator.
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message, stack }) => {
    const signature = `${name} ${messageShape(message)}`
    observer.found({ kind: 'warning', signature, details: stack ?? message }, current.input)
  })
  const observer: SearchObserver = {
    starts,
    progress: (progress) => tell({ type: 'progress', progress }),
    learned: (input, outcome) => tell({ type: 'learned', input, outcome }),
    found: (problem, input) => {
      if (known.has(problem.signature)) return
      known.add(problem.signature)
      tell({ type: 'found', problem, input })
    },
  }
  return { type: 'searched', result: await fuzz(target, task.search, observer, signal) }
}
