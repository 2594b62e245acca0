/** Runs the programs that the build needs. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ImageError } from './image-error.ts'

const TIMEOUT_MS = 10 * 60_000
const LAST_LINES = 5

/** Where and how a program runs. */
export interface ProcessOptions {
  readonly cwd?: string
  /** Added to the process environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  /** How long it may run. @default 10 minutes */
  readonly timeoutMs?: number
}

/**
 * Runs a program to its end and returns its standard output.
 *
 * *Errors*: `ImageError` with the last lines that the program printed, or how to get a program that is missing.
 */
export async function runProcess(
  program: string,
  args: readonly string[],
  { cwd, env, signal, timeoutMs = TIMEOUT_MS }: ProcessOptions = {},
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, [...args], {
      cwd,
      env: { ...process.env, ...env },
      maxBuffer: 64 * 1024 * 1024,
      timeout: timeoutMs,
      ...(signal && { signal }),
    })
    return stdout
  } catch (error) {
    signal?.throwIfAborted()
    const {
      code,
      killed,
      stderr = '',
      message,
    } = error as NodeJS.ErrnoException & { killed?: boolean; stderr?: string }
    if (code === 'ENOENT') throw new ImageError(`${program} is not installed, and the build needs it`, { cause: error })
    if (killed) {
      const text = `${program} ${args[0] ?? ''} was stopped after ${timeoutMs / 1_000} s: run the build again`
      throw new ImageError(text, { cause: error })
    }
    const lines = (stderr.trim() || message).split('\n').slice(-LAST_LINES)
    throw new ImageError(`${program} ${args[0] ?? ''} failed: ${lines.join('; ')}`, { cause: error })
  }
}
