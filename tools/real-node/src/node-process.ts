/** A long-running program of the node, which tests may kill and start again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ComponentExitedError } from './errors.ts'

const LOG_TAIL_BYTES = 4_000

export interface NodeProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Folder of the log, which is appended to by every start. */
  readonly logFolder: string
}

const RESTART_DELAY_MS = 1_000

/** One program. The sandbox ends it, if nothing else does. */
export class NodeProcess {
  readonly name: string
  readonly #options: NodeProcessOptions
  #child: ChildProcess | undefined
  #isWanted = false
  /** Starts it again when it exits, as the service manager of a node does. @default false */
  isRestarted = false

  constructor(name: string, options: NodeProcessOptions) {
    this.name = name
    this.#options = options
  }

  /** Process id while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Where its output goes. */
  get logFile(): string {
    return join(this.#options.logFolder, `${this.name}.log`)
  }

  start(): void {
    const { command, args, env } = this.#options
    const log = openSync(this.logFile, 'a')
    this.#isWanted = true
    const child = spawn(command, args, { env, stdio: ['ignore', log, log] })
    closeSync(log)
    this.#child = child
    child.once('error', (error) => console.error(`real node: ${this.name} cannot be started: ${error.message}`))
    child.once('exit', (code, signal) => {
      if (this.#child === child) this.#child = undefined
      if (!this.#isWanted) return
      console.error(`real node: ${this.name} exited with ${signal ?? code}, see ${this.logFile}`)
      if (this.isRestarted) setTimeout(() => this.#isWanted && this.start(), RESTART_DELAY_MS)
    })
  }

  /** Ends it; resolves when it has exited. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#isWanted = false
    const child = this.#child
    if (child === undefined || child.exitCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }

  /** *Errors*: `ComponentExitedError` when it has exited. */
  async assertRunning(): Promise<void> {
    if (this.#child === undefined) throw new ComponentExitedError(this.name, await this.#logTail())
  }

  async #logTail(): Promise<string> {
    return (await readFile(this.logFile, 'utf8')).slice(-LOG_TAIL_BYTES)
  }
}
