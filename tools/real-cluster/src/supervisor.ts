/** The caller's side of the supervisor process: starts components and hears of their end. */
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ComponentExitedError } from './errors.ts'
import type { SupervisorReport, SupervisorRequest } from './supervisor-protocol.ts'

const LOG_TAIL_BYTES = 4_000

/**
 * Runs components until `stop`, or until this process ends in whatever way.
 *
 * Guarantees: once `stop` resolves no component runs and the folder is gone. `failed` rejects when a component ends by
 * itself, and never settles otherwise.
 */
export class Supervisor {
  /** Rejects with `ComponentExitedError` when a component, or the supervisor, ends on its own. */
  readonly failed: Promise<never>
  readonly #process: ChildProcess
  readonly #gone: Promise<void>
  readonly #pids = new Map<string, number>()
  readonly #folder: string
  readonly #logFolder: string
  readonly #fail: (error: Error) => void
  #isStopping = false

  constructor(folder: string, logFolder: string) {
    this.#folder = folder
    this.#logFolder = logFolder
    const { promise, reject } = Promise.withResolvers<never>()
    this.failed = promise
    this.#fail = reject
    // Whoever waits for readiness races against it; afterwards nobody has to listen.
    promise.catch(() => undefined)

    const main = fileURLToPath(new URL('./supervisor-main.ts', import.meta.url))
    this.#process = fork(main, [folder, logFolder], {
      detached: true,
      execArgv: [],
      // Options meant for the caller (an inspector port, a loader) would break or slow the supervisor.
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#process.on('message', (report: SupervisorReport) => this.#hear(report))
    this.#gone = new Promise((resolve) => {
      this.#process.once('exit', (code, signal) => {
        if (!this.#isStopping) this.#lost('supervisor', signal ?? `code ${code}`)
        resolve()
      })
    })
  }

  /** Process ids of the supervisor and of every component that runs, by name. */
  get processes(): Readonly<Record<string, number>> {
    return { supervisor: this.#process.pid ?? -1, ...Object.fromEntries(this.#pids) }
  }

  /** Starts a component; its end is reported through `failed`. */
  start(name: string, command: string, args: readonly string[]): void {
    const request: SupervisorRequest = { name, command, args }
    this.#process.send(request)
  }

  /** The end of a component's log. */
  async logTail(name: string): Promise<string> {
    const path = join(this.#logFolder, `${name}.log`)
    return existsSync(path) ? (await readFile(path, 'utf8')).slice(-LOG_TAIL_BYTES) : ''
  }

  /** Ends everything; resolves when nothing runs and the folder is gone. Calling it again waits for the same end. */
  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#process.connected) this.#process.disconnect()
    await this.#gone
  }

  #hear(report: SupervisorReport): void {
    if (report.type === 'started') {
      this.#pids.set(report.name, report.pid)
      return
    }
    this.#pids.delete(report.name)
    if (!this.#isStopping) this.#lost(report.name, report.how)
  }

  #lost(name: string, how: string): void {
    this.logTail(name).then(
      (tail) => this.#fail(new ComponentExitedError(name, how, tail)),
      (error: unknown) => this.#fail(new ComponentExitedError(name, how, String(error))),
    )
    if (name === 'supervisor') this.#killOrphans()
  }

  // Only reached when the supervisor itself was killed by force: then its children and its folder are nobody's.
  #killOrphans(): void {
    for (const pid of this.#pids.values()) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // Already gone, which is what we want.
      }
    }
    this.#pids.clear()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
