/** The caller's side of the supervisor process: starts components and reports when they exit. */
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ComponentExitedError } from './errors.ts'

/** Sent to the supervisor process: start or kill a component. */
export type SupervisorRequest =
  | { readonly type: 'start'; readonly name: string; readonly command: string; readonly args: readonly string[] }
  | { readonly type: 'kill'; readonly name: string }

/** Sent by the supervisor process: a component started or exited. */
export type SupervisorReport =
  | { readonly type: 'started'; readonly name: string; readonly pid: number }
  | { readonly type: 'exited'; readonly name: string; readonly how: string }

const LOG_TAIL_BYTES = 4_000

/**
 * Runs components until `stop`, or until this process ends for any reason.
 *
 * Guarantees: once `stop` resolves no component runs and the folder is deleted. `failed` rejects when a component exits
 * unexpectedly, and never settles otherwise.
 */
export class Supervisor {
  /** Rejects with `ComponentExitedError` when a component or the supervisor exits unexpectedly. */
  readonly failed: Promise<never>
  readonly #process: ChildProcess
  readonly #gone: Promise<void>
  readonly #pids = new Map<string, number>()
  /** Components that are being killed on purpose, with what to call when they have exited. */
  readonly #killed = new Map<string, () => void>()
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
    // Callers that wait for readiness race against it; afterwards it may stay unobserved.
    promise.catch(() => undefined)

    const main = fileURLToPath(new URL('./supervisor-main.ts', import.meta.url))
    this.#process = fork(main, [folder, logFolder], {
      detached: true,
      execArgv: [],
      // Options for the caller (an inspector port, a loader) would break the supervisor or slow it down.
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#process.on('message', (report: SupervisorReport) => this.#onReport(report))
    this.#gone = new Promise((resolve) => {
      this.#process.once('exit', (code, signal) => {
        if (!this.#isStopping) this.#onUnexpectedExit('supervisor', signal ?? `code ${code}`)
        resolve()
      })
    })
  }

  /** Process ids of the supervisor and of every component that runs, by name. */
  get processes(): Readonly<Record<string, number>> {
    return { supervisor: this.#process.pid ?? -1, ...Object.fromEntries(this.#pids) }
  }

  /** Starts a component; its exit is reported through `failed`. */
  start(name: string, command: string, args: readonly string[]): void {
    const request: SupervisorRequest = { type: 'start', name, command, args }
    this.#process.send(request)
  }

  /** Kills a component, so that tests can see what happens without it; resolves when it has exited. */
  async kill(name: string): Promise<void> {
    if (!this.#pids.has(name)) throw new Error(`${name} does not run`)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#killed.set(name, resolve)
    const request: SupervisorRequest = { type: 'kill', name }
    this.#process.send(request)
    await promise
  }

  /** The end of a component's log. */
  async logTail(name: string): Promise<string> {
    const path = join(this.#logFolder, `${name}.log`)
    return existsSync(path) ? (await readFile(path, 'utf8')).slice(-LOG_TAIL_BYTES) : ''
  }

  /** Stops everything; resolves when nothing runs and the folder is deleted. A second call waits for the same end. */
  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#process.connected) this.#process.disconnect()
    await this.#gone
  }

  #onReport(report: SupervisorReport): void {
    if (report.type === 'started') {
      this.#pids.set(report.name, report.pid)
      return
    }
    this.#pids.delete(report.name)
    const exited = this.#killed.get(report.name)
    this.#killed.delete(report.name)
    if (exited !== undefined) exited()
    else if (!this.#isStopping) this.#onUnexpectedExit(report.name, report.how)
  }

  #onUnexpectedExit(name: string, how: string): void {
    this.logTail(name).then(
      (tail) => this.#fail(new ComponentExitedError(name, how, tail)),
      (error: unknown) => this.#fail(new ComponentExitedError(name, how, String(error))),
    )
    if (name === 'supervisor') this.#killOrphans()
  }

  // Only reached when the supervisor itself was killed: then its children and its folder have no owner.
  #killOrphans(): void {
    for (const pid of this.#pids.values()) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // Already exited, as intended.
      }
    }
    this.#pids.clear()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
