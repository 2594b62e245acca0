/** `reeve cluster` as a separate process that can be killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const LAUNCHER = fileURLToPath(new URL('../../../cli/bin/reeve.js', import.meta.url))

/** A running `reeve cluster`. */
export interface ClusterProcess extends AsyncDisposable {
  readonly url: string
  /** Kills it like a power failure: nothing is flushed, nothing is closed. */
  kill(): Promise<void>
  /** Stops it like Ctrl-C, and returns the exit code. */
  terminate(): Promise<number | null>
  /** Everything that it wrote to the standard error, once it has ended. */
  readonly errors: Promise<string>
}

/** Starts it and waits until it reports that it is ready; rejects with its output if it exits before. */
export async function startClusterProcess(...args: string[]): Promise<ClusterProcess> {
  const child = spawn(process.execPath, [LAUNCHER, 'cluster', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const end = (signal: NodeJS.Signals) => async () => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
    return child.exitCode
  }
  const kill = async () => {
    await end('SIGKILL')()
  }
  const errors = errorsOf(child)
  return { url: await readyUrl(child), kill, terminate: end('SIGTERM'), errors, [Symbol.asyncDispose]: kill }
}

async function errorsOf(child: ChildProcess): Promise<string> {
  let errors = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  await once(child, 'close')
  return errors
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    const listen = (chunk: Buffer) => {
      output += chunk.toString()
      const url = /ready at (https:\S+)/.exec(output)?.[1]
      if (url !== undefined) resolve(url)
    }
    child.stdout?.on('data', listen)
    child.stderr?.on('data', listen)
    child.once('exit', (code) => reject(new Error(`reeve cluster exited with ${code}: ${output}`)))
  })
}
