/** Stands in for processes: answers from a script and remembers what was asked. */
import type { ProcessOutcome, ProcessRequest, RunProcess } from '../process/process-runner.ts'

/**
 * A process that ended by itself.
 *
 * @example
 * exited({ exitCode: 1, stderr: 'Error: release: not found' })
 */
export function exited(outcome: Partial<ProcessOutcome> = {}): ProcessOutcome {
  return { exitCode: 0, stdout: '', stderr: '', isTruncated: false, endedBy: 'exit', ...outcome }
}

/**
 * @example
 * const helm = new ScriptedProcess(({ args }) => exited({ stdout: args[0] === 'list' ? '[]' : '' }))
 * await openHelm(binary, cluster, { runProcess: helm.run })
 */
export class ScriptedProcess {
  /** Everything that was started, in order. */
  readonly requests: ProcessRequest[] = []
  readonly #answer: (request: ProcessRequest) => ProcessOutcome | Promise<ProcessOutcome>

  constructor(answer: (request: ProcessRequest) => ProcessOutcome | Promise<ProcessOutcome>) {
    this.#answer = answer
  }

  readonly run: RunProcess = async (request) => {
    this.requests.push(request)
    return this.#answer(request)
  }
}
