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

/** A command line that runs. */
export interface StartedProcess {
  /** What it has written so far. */
  readonly stdout: string
  readonly stderr: string
  readonly ended: Promise<CapturedRun>
  send(signal: NodeJS.Signals): void
}

/**
 * Runs `main` with these arguments; nothing of the real process is used.
 *
 * @example
 * const { code, stdout } = await runCaptured(main, ['validate', '-f', '-'], { stdin: manifest })
 */
export function runCaptured(main: Main, args: readonly string[], options?: CapturedProcess): Promise<CapturedRun> {
  return startCaptured(main, args, options).ended
}

/**
 * Starts a command that runs until it is stopped, and captures what it prints.
 *
 * @example
 * const server = startCaptured(main, ['webhook-server'], { env })
 * await until(() => server.stderr.includes('ready'))
 * server.send('SIGTERM')
 * const { code } = await server.ended
 */
export function startCaptured(
  main: Main,
  args: readonly string[],
  { stdin = '', env = {}, hasColors = false, interruptOn }: CapturedProcess = {},
): StartedProcess {
  const signals = new EventEmitter()
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
  const run = async () => {
    const code = await Promise.race([main(['node', 'main', ...args], parts), exited.promise])
    return { code, ...written }
  }
  const ended = run()
  // Whoever waits for the end handles its failure.
  ended.catch(() => undefined)
  return {
    get stdout() {
      return written.stdout
    },
    get stderr() {
      return written.stderr
    },
    ended,
    send: (signal) => void signals.emit(signal, signal),
  }
}

type Main = (argv: readonly string[], parts: ProcessParts) => Promise<number>
