/**
 * The process that owns a sandbox: creates its namespaces and cgroups, and removes everything when the command ends or
 * when the caller does, for whatever reason.
 */
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createCgroup, removeCgroup } from './cgroups.ts'
import { NODE_IP } from './defaults.ts'

const [folder, ...command] = process.argv.slice(2)
if (folder === undefined || command.length === 0 || process.send === undefined) {
  throw new Error('sandbox-main.ts must be started by runInSandbox, with a folder, a command and an IPC channel')
}
const ownFolder = folder
const cgroup = basename(folder)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.disconnect())
await createCgroup(cgroup)

// When this process is killed, so is the first process of the namespaces, and with it every other.
const child = spawn(
  'setpriv',
  [
    '--pdeathsig',
    'KILL',
    'unshare',
    '--mount',
    '--net',
    '--pid',
    '--ipc',
    '--fork',
    '--kill-child',
    '--mount-proc',
  ].concat(
    ['--propagation', 'private', 'sh', fileURLToPath(new URL('./enter-sandbox.sh', import.meta.url))],
    [ownFolder, NODE_IP, ...command],
  ),
  { stdio: ['ignore', 'inherit', 'inherit'], detached: true },
)
process.on('disconnect', () => child.kill('SIGKILL'))
if (!process.connected) child.kill('SIGKILL')
child.once('error', (error) => end({ error: error.message }))
child.once('exit', (code, signal) => end({ code: code ?? undefined, error: signal ?? undefined }))

/** Sent to the caller before this process exits. */
export interface SandboxEnd {
  readonly code?: number
  readonly error?: string
}

async function end(how: SandboxEnd): Promise<void> {
  let { code, error } = how
  try {
    await removeCgroup(cgroup)
    // The mounts below it were those of the namespace and are gone with it.
    rmSync(ownFolder, { recursive: true, force: true, maxRetries: 5 })
  } catch (failure) {
    code = undefined
    error = `clean-up failed: ${failure instanceof Error ? failure.message : String(failure)}`
    console.error(`real node: ${error}`)
  }
  const exit = () => process.exit(error === undefined ? 0 : 1)
  if (process.connected && process.send) process.send({ code, error } satisfies SandboxEnd, undefined, undefined, exit)
  else exit()
}
