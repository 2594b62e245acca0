/** The operator as a process, which can be killed, alone or together with its helm. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { helmPath, type Stage } from './stage.ts'

const here = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** The sample settings name folders from the root of the repository. */
const ROOT = here('../..')

/** A command of the operator that was started. */
export interface OperatorProcess {
  readonly child: ChildProcess
  /** Exit code, `null` after a kill, and everything it printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>
  /** Kills it with SIGKILL, and resolves when it has ended. A running helm continues. */
  kill(): Promise<void>
  /** The same with every helm it has started, as when a machine fails. */
  killAll(): Promise<void>
}

/**
 * Starts the command line with these arguments, against the cluster of a stage.
 *
 * @example
 * const operator = startCommand(stage, ['run', '--settings', path])
 */
export function startCommand(
  stage: Stage,
  args: readonly string[],
  extra: Readonly<Record<string, string>> = {},
): OperatorProcess {
  const { PATH } = process.env
  const env = { PATH, HELM_BIN: helmPath, KUBECONFIG: stage.cluster.kubeconfigPath, ...extra }
  const child = spawn(process.execPath, [here('bin/collector-operator.js'), ...args], { cwd: ROOT, env })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return {
    child,
    ended,
    kill,
    async killAll() {
      // Stopped first: what it could still start would be missed.
      child.kill('SIGSTOP')
      for (const pid of await childrenOf(child.pid)) process.kill(pid, 'SIGKILL')
      await kill()
    },
  }
}

async function childrenOf(parent: number | undefined): Promise<readonly number[]> {
  const found: number[] = []
  for await (const file of glob('/proc/[0-9]*/stat')) {
    const stat = await readFile(file, 'utf8').catch(() => '')
    // The name, in brackets, may hold anything; state and parent follow it.
    const [, , ppid] = stat.slice(stat.lastIndexOf(')')).split(' ')
    if (parent !== undefined && Number(ppid) === parent) found.push(Number.parseInt(stat, 10))
  }
  return found
}
