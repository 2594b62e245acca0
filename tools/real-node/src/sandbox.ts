/** Runs a command in namespaces of its own, where it may mount, configure the network and start containers. */
import { fork } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ProgramFailedError } from './errors.ts'
import type { SandboxEnd } from './sandbox-main.ts'

export interface SandboxOptions {
  /** Environment variables of the command. @default process.env */
  readonly env?: NodeJS.ProcessEnv
  /** Kills the command and everything it started. */
  readonly signal?: AbortSignal
  /** Called with the folder of the sandbox, whose name is also that of its cgroup. */
  readonly onFolder?: (folder: string) => void
}

/**
 * Runs a command to its end and returns its exit code.
 *
 * *Guarantees*: the command sees the machine read-only, except `/var`, `/run`, `/opt` and its temporary folder, which are
 * empty and removed afterwards. When this resolves, throws, or the calling process ends for any reason, no process, mount,
 * network interface, firewall rule, cgroup or file of the command remains.
 *
 * *Errors*: the signal's reason; `ProgramFailedError` when the command was killed or something could not be removed.
 */
export async function runInSandbox(command: readonly string[], options: SandboxOptions = {}): Promise<number> {
  const { env = process.env, signal, onFolder } = options
  signal?.throwIfAborted()
  const folder = await mkdtemp(join(tmpdir(), 'reeve-node-'))
  onFolder?.(folder)
  const owner = fork(fileURLToPath(new URL('./sandbox-main.ts', import.meta.url)), [folder, ...command], {
    detached: true,
    execArgv: [],
    env: { ...env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  let ended: SandboxEnd = { error: 'its owner was killed' }
  owner.on('message', (message: SandboxEnd) => {
    ended = message
  })
  const abort = () => owner.connected && owner.disconnect()
  signal?.addEventListener('abort', abort)
  try {
    await new Promise((resolve) => owner.once('exit', resolve))
  } finally {
    signal?.removeEventListener('abort', abort)
  }
  signal?.throwIfAborted()
  if (ended.code === undefined) throw new ProgramFailedError('sandbox', `ended: ${ended.error}`, '')
  return ended.code
}
