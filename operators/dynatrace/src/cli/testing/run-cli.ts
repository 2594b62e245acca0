/** Runs the command line of the operator inside the test's process. */
import { type CapturedProcess, type CapturedRun, runCaptured } from '@reeve/cli/testing'
import { main } from '../main.ts'

/** Exit code and output of `dynatrace-operator` with `args`. */
export function runCli(args: readonly string[], parts: CapturedProcess = {}): Promise<CapturedRun> {
  return runCaptured(main, args, parts)
}
