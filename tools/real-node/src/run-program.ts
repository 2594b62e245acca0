/** Runs programs to their end. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ProgramFailedError } from './errors.ts'

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly signal?: AbortSignal
  /** @default 300_000 */
  readonly timeoutMs?: number
}

/** The standard output of a program. *Errors*: `ProgramFailedError` with what it printed. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions & { readonly encoding: 'buffer' },
): Promise<Buffer>
export function runProgram(program: string, args: readonly string[], options?: RunOptions): Promise<string>
export async function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions & { readonly encoding?: 'buffer' } = {},
): Promise<string | Buffer> {
  const { env = process.env, cwd, signal, timeoutMs = 300_000, encoding = 'utf8' } = options
  const settings = { env, cwd, signal, timeout: timeoutMs, maxBuffer: 2 ** 28, encoding }
  try {
    const run = promisify(execFile)(program, [...args], settings)
    run.child.stdin?.end()
    return (await run).stdout
  } catch (error) {
    signal?.throwIfAborted()
    // execFile adds what the program printed.
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    throw new ProgramFailedError(`${program} ${args.join(' ')}`, 'failed', `${stdout}${stderr}` || message, {
      cause: error,
    })
  }
}
