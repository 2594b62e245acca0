/** Runs a command line inside the test's process. */
import { EventEmitter } from 'node:events'
import type { ProcessParts } from '../command-line.ts'

/** What a test may say about the process. */
export interface CapturedProcess {
  /** @default '' */
  readonly stdin?: string
  /** @default {} */
  readonly env?: ProcessParts['env']
  /** Whether a terminal with colours stands behind the output. @default false */
  readonly hasColors?: boolean
  /** Emits the signals that the process is sent. @default none come */
  readonly signals?: EventEmitter
}

/** How a command line ended, and what it wrote. */
export interface CapturedRun {
  /** Also that of a process that would have been ended at once. */
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs `main` with these arguments; nothing of the real process is used.
 *
 * @example
 * const { code, stdout } = await runCaptured(main, ['validate', '-f', '-'], { stdin: manifest })
 */
export async function runCaptured(
  main: (argv: readonly string[], parts: ProcessParts) => Promise<number>,
  args: readonly string[],
  { stdin = '', env = {}, hasColors = false, signals = new EventEmitter() }: CapturedProcess = {},
): Promise<CapturedRun> {
  const written = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof written) => ({
    hasColors,
    write: (text: string) => {
      written[name] += text
    },
  })
  const exited = Promise.withResolvers<number>()
  const parts = {
    env,
    readStdin: async () => stdin,
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    signals,
    exit: exited.resolve,
  }
  const code = await Promise.race([main(['node', 'main', ...args], parts), exited.promise])
  return { code, ...written }
}
