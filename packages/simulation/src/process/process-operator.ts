/** An operator that is a command: each instance is a process, with a kubeconfig that leads through the seam. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OperatorInstance, Place } from '../operator-under-test.ts'
import { Child } from './child-process.ts'
import { freePorts } from './free-ports.ts'
import { HttpFront } from './http-front.ts'
import { kubeconfigFor } from './kubeconfig.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** How an operator is started. */
export interface ProcessCommand {
  /** For `sh -c`; `$REEVE_PORT_1` to `$REEVE_PORT_4` are ports that it may listen on. */
  readonly command: string
  /** In addition to those of this process. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Called for every line of its output. */
  readonly onLine?: ((instance: string, line: string) => void) | undefined
  /** Called with the ports of an instance before it starts. */
  readonly onPorts?: ((ports: readonly number[]) => void) | undefined
}

/**
 * One instance. When it is killed, its process group gets SIGKILL; when it is stopped, SIGTERM.
 *
 * *Errors* of `run`: `ProcessExitError` when the process ends by itself.
 */
export function processInstance(command: ProcessCommand, place: Place): OperatorInstance {
  return { run: (signal) => run(command, place, signal) }
}

async function run({ command, env, cwd, onLine, onPorts }: ProcessCommand, place: Place, signal: AbortSignal) {
  await using folder = await TemporaryFolder.create('reeve-process-')
  await using front = await HttpFront.start(place.transport)
  const kubeconfig = join(folder.path, 'kubeconfig')
  await writeFile(kubeconfig, kubeconfigFor(front.port), { mode: 0o600 })
  const ports = await freePorts()
  onPorts?.(ports)
  if (signal.aborted || place.killed.aborted) return
  const child = new Child({
    command,
    cwd,
    env: {
      ...process.env,
      ...env,
      KUBECONFIG: kubeconfig,
      REEVE_INSTANCE: place.identity,
      ...Object.fromEntries(ports.map((port, index) => [`REEVE_PORT_${index + 1}`, String(port)])),
    },
    onLine: onLine && ((line) => onLine(place.identity, line)),
  })
  const stop = () => child.signal('SIGTERM')
  const kill = () => child.signal('SIGKILL')
  signal.addEventListener('abort', stop, { once: true })
  place.killed.addEventListener('abort', kill, { once: true })
  try {
    await child.ended()
  } finally {
    signal.removeEventListener('abort', stop)
    place.killed.removeEventListener('abort', kill)
  }
}
