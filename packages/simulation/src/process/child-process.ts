/** The process of an operator: started through a shell, killed with everything that it started. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Lines of output that are kept to explain an exit. */
const KEPT_LINES = 20

/** How long the output of a process is read after its end. */
const LAST_OUTPUT_MS = 1_000

/** Characters of a line. */
const MAX_LINE = 500

/** What a process is started with. */
export interface ChildOptions {
  /** For `sh -c`. */
  readonly command: string
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** Called for every line of its output. */
  readonly onLine?: ((line: string) => void) | undefined
}

/** A process that ended by itself. */
class ProcessExitError extends Error {
  override readonly name = 'ProcessExitError'
  readonly code = 'PROCESS_EXIT'
}

/** Those that run: they must not outlive this process, however it ends. */
const running = new Set<ChildProcess>()

function killAll(): void {
  for (const child of running) signalGroup(child, 'SIGKILL')
}

function began(child: ChildProcess): void {
  if (running.size === 0) process.on('exit', killAll)
  running.add(child)
}

function ended(child: ChildProcess): void {
  running.delete(child)
  if (running.size === 0) process.off('exit', killAll)
}

/** A process group. */
export class Child {
  readonly #child: ChildProcess
  readonly #lines: string[] = []
  readonly #exited: Promise<{ readonly code: number | null; readonly signal: string | null }>
  #isAsked = false

  constructor({ command, env, cwd, onLine }: ChildOptions) {
    // A group of its own: a shell may have started more than one process.
    const child = spawn('sh', ['-c', command], { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    began(child)
    for (const output of [child.stdout, child.stderr]) {
      if (output === null) continue
      createInterface({ input: output }).on('line', (line) => {
        this.#lines.push(line.slice(0, MAX_LINE))
        if (this.#lines.length > KEPT_LINES) this.#lines.shift()
        onLine?.(line)
      })
    }
    this.#exited = new Promise((resolve) => {
      // Descendants may outlive the shell and keep its output open: its exit is what counts.
      child.once('error', (error) => {
        this.#lines.push(error.message)
        resolve({ code: null, signal: null })
      })
      child.once('exit', (code, signal) => resolve({ code, signal }))
    })
    this.#exited.finally(() => {
      // As in a container, where nothing outlives the first process.
      signalGroup(child, 'SIGKILL')
      closeOutput(child)
      ended(child)
    })
  }

  /** What it printed last. */
  get lastLines(): readonly string[] {
    return this.#lines
  }

  /** Sends a signal to all of its processes; after it, an exit is what was asked for. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#isAsked = true
    signalGroup(this.#child, signal)
  }

  /**
   * Waits for its end.
   *
   * *Errors*: {@link ProcessExitError} when it ends without having been asked to, or with an error when it was.
   */
  async ended(): Promise<void> {
    const { code, signal } = await this.#exited
    if (this.#isAsked && (code === 0 || signal !== null)) return
    const how = code === null ? `was ended by ${signal ?? 'an error'}` : `exited with code ${code}`
    const last = this.#lines.slice(-3).join(' | ')
    throw new ProcessExitError(`the process ${how}${last === '' ? '' : `: ${last}`}`)
  }
}

/** Whoever left the group may keep the output open, and with it this process alive; what was printed can still be read. */
function closeOutput({ stdout, stderr }: ChildProcess): void {
  const close = () => {
    stdout?.destroy()
    stderr?.destroy()
  }
  setTimeout(close, LAST_OUTPUT_MS).unref()
}

function signalGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // It may have ended a moment ago.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
