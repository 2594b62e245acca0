/** Starts processes that do not outlive a test, also when the test itself is killed and cannot stop them. */
import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  spawn,
  spawnSync,
} from 'node:child_process'

/** The kernel sends the signal when the thread that started the process ends; of util-linux, as `unshare` is. */
const BINDING = ['setpriv', '--pdeathsig', 'KILL'] as const

const canBind = spawnSync(BINDING[0], ['--version']).status === 0

/** As `spawn`. The process dies with this one; only the programs that it replaces itself by do, too. */
export function spawnBound(command: readonly string[]): ChildProcessWithoutNullStreams
export function spawnBound(
  command: readonly string[],
  options: { env: NodeJS.ProcessEnv },
): ChildProcessWithoutNullStreams
export function spawnBound(command: readonly string[], options: SpawnOptions): ChildProcess
export function spawnBound(command: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const [program = '', ...args] = canBind ? [...BINDING, ...command] : command
  return spawn(program, args, options)
}
