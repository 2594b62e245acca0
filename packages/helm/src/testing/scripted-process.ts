/** Replaces processes in tests: returns scripted outcomes and records requests. */
import type { ProcessOutcome, ProcessRequest, RunProcess } from '../process/process-runner.ts'

/**
 * A process that exited.
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
  readonly #respond: (request: ProcessRequest) => ProcessOutcome | Promise<ProcessOutcome>

  constructor(respond: (request: ProcessRequest) => ProcessOutcome | Promise<ProcessOutcome>) {
    this.#respond = respond
  }

  readonly run: RunProcess = async (request) => {
    this.requests.push(request)
    return this.#respond(request)
  }
}
