/** What both bootstrappers have in common: reading flags, help, exit codes and suppressed errors. */
import { writeSync } from 'node:fs'
import { BootstrapError } from './bootstrap-error.ts'
import { describeFlags, type Flags, type FlagValues, parseFlags } from './flags.ts'
import type { Log } from './log.ts'
import type { POD_FLAGS } from './pod-options.ts'

/** A program and its work. */
export interface Program<F extends Flags> {
  /** How it is called, for the help text. */
  readonly usage: string
  readonly flags: F
  /** Flags without which it does not start. @default none */
  readonly required?: readonly (keyof F & string)[]
  run(values: FlagValues<F>): Promise<void>
}

const DONE = 0
const FAILED = 1
const STANDARD_OUTPUT = 1

/**
 * Runs a program and returns its exit code.
 *
 * Errors in arguments always count. Those of the run are logged, and with `--suppress-error` the exit code is 0 all the
 * same: an application must not wait for its monitoring.
 */
export async function runProgram<F extends Flags & typeof POD_FLAGS>(
  { usage, flags, required = [], run }: Program<F>,
  args: readonly string[],
  log: Log,
): Promise<number> {
  let values: FlagValues<F>
  try {
    values = parseFlags(flags, args)
    if (values.help === true) {
      writeSync(STANDARD_OUTPUT, `Usage: ${usage}\n\n${describeFlags(flags)}\nUnknown flags are ignored.\n`)
      return DONE
    }
    const missing = required.find((name) => !values[name])
    if (missing !== undefined) throw new BootstrapError('BOOTSTRAP_ARGUMENT', `--${missing} is required`)
  } catch (error) {
    log.error({ err: error }, 'invalid arguments')
    return FAILED
  }
  try {
    await run(values)
    return DONE
  } catch (error) {
    const isSuppressed = values['suppress-error'] === true
    log.error({ err: error, isSuppressed }, 'the pod could not be prepared')
    return isSuppressed ? DONE : FAILED
  }
}
