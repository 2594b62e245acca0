/** Runs a command line inside the test's process. */
import { EventEmitter } from 'node:events'
import type { ProcessParts } from '../command-line.ts'

/** Options of the captured process. */
export interface CapturedProcess {
  /** @default '' */
  readonly stdin?: string
  /** @default {} */
  readonly env?: ProcessParts['env']
  /** Whether the output is a terminal with colours. @default false */
  readonly hasColors?: boolean
  /** Emits the signals of the process. @default none */
  readonly signals?: EventEmitter
  /** Sends SIGINT once the standard error matches. @default never */
  readonly interruptOn?: RegExp
}

/** The exit code and output of a command line. */
export interface CapturedRun {
  /** Also the code of a process that would have exited immediately. */
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
  { stdin = '', env = {}, hasColors = false, signals = new EventEmitter(), interruptOn }: CapturedProcess = {},
): Promise<CapturedRun> {
  const written = { stdout: '', stderr: '' }
  let isInterrupted = false
  const sink = (name: keyof typeof written) => ({
    hasColors,
    write: (text: string) => {
      written[name] += text
      if (interruptOn === undefined || isInterrupted || !interruptOn.test(written.stderr)) return
      isInterrupted = true
      signals.emit('SIGINT', 'SIGINT')
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
