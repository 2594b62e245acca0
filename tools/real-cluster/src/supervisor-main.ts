/**
 * The process that owns the components of one control plane.
 *
 * It runs in its own session, so a Ctrl-C or a kill of the caller's process group does not reach it, and it ends as
 * soon as the IPC channel closes: by a regular stop, or because the caller crashed or was killed with SIGKILL. Before
 * it exits, it kills every component and removes the folder. No other mechanism (signal handlers, exit hooks) is
 * needed.
 *
 * Usage: `node supervisor-main.ts <folder>`; component logs go to `<folder>/<name>.log` unless a second argument names
 * another folder.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SupervisorReport, SupervisorRequest } from './supervisor.ts'

const [folder, logFolder = folder] = process.argv.slice(2)
if (folder === undefined || logFolder === undefined || process.send === undefined) {
  throw new Error('supervisor-main.ts must be started by startRealCluster, with a folder and an IPC channel')
}
const ownFolder = folder
const components = new Map<string, ChildProcess>()

process.on('message', (request: SupervisorRequest) => {
  if (request.type === 'start') start(request)
  else components.get(request.name)?.kill('SIGKILL')
})
process.on('disconnect', () => {
  end().catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.disconnect())

function start({ name, command, args }: SupervisorRequest & { readonly type: 'start' }): void {
  const log = openSync(join(logFolder ?? ownFolder, `${name}.log`), 'a')
  const child = spawn(command, args, { stdio: ['ignore', log, log], cwd: ownFolder })
  closeSync(log)
  components.set(name, child)
  child.once('error', (error) => exited(name, child, error.message))
  child.once('exit', (code, signal) => exited(name, child, signal ?? `code ${code}`))
  if (child.pid !== undefined) report({ type: 'started', name, pid: child.pid })
}

function exited(name: string, child: ChildProcess, how: string): void {
  if (components.get(name) === child) components.delete(name)
  report({ type: 'exited', name, how })
}

function report(message: SupervisorReport): void {
  if (process.connected) process.send?.(message)
}

// SIGKILL is right: the data is deleted with the folder, so there is nothing to flush, and a graceful shutdown of
// kube-apiserver waits for its open watches.
async function end(): Promise<void> {
  const running = [...components.values()].filter((child) => child.exitCode === null && child.signalCode === null)
  await Promise.all(
    running.map((child) => {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      return child.kill('SIGKILL') ? gone : undefined
    }),
  )
  rmSync(ownFolder, { recursive: true, force: true, maxRetries: 5 })
  process.exit(0)
}
