/** A subcommand of the operator as a process, started as in the chart. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { sleep } from '@reeve/http'

const BIN = fileURLToPath(new URL('../../bin/dynatrace-operator.js', import.meta.url))

const PATIENCE_MS = 50_000

/** What a process is started with besides the path of its programs. */
export type ProcessEnvironment = Readonly<Record<string, string>>

/** A process that runs, or has ended; what it said is kept. */
export class OperatorProcess {
  readonly #child: ChildProcess
  #log = ''

  /** @param options `program`: the file that Node runs; `runner`: the words of the command before Node */
  constructor(
    args: readonly string[],
    env: ProcessEnvironment,
    options: { readonly program?: string; readonly runner?: readonly string[] } = {},
  ) {
    const { program = BIN, runner = [] } = options
    const [command = process.execPath, ...words] = [...runner, process.execPath, program, ...args]
    this.#child = spawn(command, words, {
      env: { PATH: process.env.PATH, LOG_LEVEL: 'debug', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.#log += chunk
      })
    }
  }

  /** Everything it printed. */
  get log(): string {
    return this.#log
  }

  /** The id of the process. */
  get pid(): number | undefined {
    return this.#child.pid
  }

  /** `null` while it runs. */
  get exitCode(): number | null {
    return this.#child.exitCode
  }

  /** Sends a signal unless it has ended, and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode
    const exit = new Promise<number | null>((resolve) => this.#child.once('exit', resolve))
    this.#child.kill(signal)
    return exit
  }

  /** Waits for a condition; one that throws does not hold yet. Fails with the log. */
  async until(what: string, condition: () => boolean | Promise<boolean>, patienceMs = PATIENCE_MS): Promise<void> {
    const deadline = AbortSignal.timeout(patienceMs)
    const holds = async () => condition()
    while (!(await holds().catch(() => false))) {
      await sleep(50, { signal: deadline }).catch((error: unknown) => {
        throw new Error(`timed out waiting for ${what}:\n${this.#log}`, { cause: error })
      })
    }
  }
}

/** Ports that were free a moment ago. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) =>
          server.listen(0, () => {
            const address = server.address()
            resolve(typeof address === 'object' && address !== null ? address.port : 0)
          }),
        ),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** The response of a local server to a GET. */
export const httpStatus = async (port: number, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}${path}`)).status

/** Whether a local server responds so; before it listens it does not. */
export const responds = (port: number, path: string, status: number): Promise<boolean> =>
  httpStatus(port, path).then(
    (found) => found === status,
    () => false,
  )
