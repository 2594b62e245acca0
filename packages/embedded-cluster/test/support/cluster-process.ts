/** `reeve-cluster` as people start it: a process of its own that can be killed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const LAUNCHER = fileURLToPath(new URL('../../bin/reeve-cluster.js', import.meta.url))

/** A running `reeve-cluster`. */
export interface ClusterProcess extends AsyncDisposable {
  readonly url: string
  /** Ends it as a power cut would: nothing is flushed, nothing is closed. */
  kill(): Promise<void>
  /** Ends it as Ctrl-C does, and says with which code. */
  terminate(): Promise<number | null>
}

/** Starts it and waits until it says that it is ready; fails with what it said when it ends before. */
export async function startClusterProcess(...args: string[]): Promise<ClusterProcess> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
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
  return { url: await readyUrl(child), kill, terminate: end('SIGTERM'), [Symbol.asyncDispose]: kill }
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const listen = (chunk: Buffer) => {
      said += chunk.toString()
      const url = /ready at (https:\S+)/.exec(said)?.[1]
      if (url !== undefined) resolve(url)
    }
    child.stdout?.on('data', listen)
    child.stderr?.on('data', listen)
    child.once('exit', (code) => reject(new Error(`reeve-cluster ended with ${code}: ${said}`)))
  })
}
