/** Memory of the processes of the CSI driver that serve the kubelet, at rest and while volumes are mounted. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { callUnix } from '@reeve/dynatrace/csi'
import { publishRequest, unpublishRequest } from './csi-requests.ts'
import { freePort } from './free-port.ts'
import { memoryCgroup } from './memory-cgroup.ts'
import { bundleSmallCommands } from './operator-bundle.ts'
import type { Result } from './result.ts'

const MIB = 1024 ** 2
const VOLUMES = 400
/** As many as the driver works on at once. */
const AT_ONCE = 20
const PROBES = 10

/** Which processes serve, each in a cgroup of its own. */
const SPLITS = {
  'csi-server with registrar and liveness probe': ['all'],
  'csi-server, registrar and liveness probe apart': ['server', 'registrar', 'liveness'],
} as const

type Part = (typeof SPLITS)[keyof typeof SPLITS][number]

/** Measures both ways to run them. */
export async function csiProcesses(): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const [name, parts] of Object.entries(SPLITS)) {
    const measured = await measure(parts)
    const shown = measured.map(({ part, restBytes, peakBytes }) => `${part} ${mib(restBytes)} / ${mib(peakBytes)}`)
    results.push({
      name: `${name}, anonymous memory at rest / at most`,
      figure: `${shown.join(', ')} MiB`,
      beside: `${parts.length === 1 ? 100 : '100 + 30 + 30'} MiB of requests in the reference`,
      ratio: Number.NaN,
      note: `after ${VOLUMES} volumes, ${AT_ONCE} at once`,
    })
  }
  return results
}

const mib = (bytes: number): string => (bytes / MIB).toFixed(0)

async function measure(parts: readonly Part[]) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  const children: ChildProcess[] = []
  try {
    const program = await bundleSmallCommands(folder)
    const socket = join(folder, 'csi.sock')
    const port = await freePort()
    const data = await prepareData(folder)
    const registration = `--plugin-registration-path=${folder}`
    const server = [
      'csi-server',
      `--endpoint=unix:${socket}`,
      `--data-root=${data}`,
      '--metrics-bind-address=127.0.0.1:0',
    ]
    const commands: Readonly<Record<Part, readonly string[]>> = {
      server,
      all: [...server, '--kubelet-registration-path=/csi.sock', registration, `--health-port=${port}`],
      registrar: ['csi-node-driver-registrar', `--csi-address=${socket}`, registration],
      liveness: ['livenessprobe', `--csi-address=${socket}`, `--health-port=${port}`],
    }
    await using groups = new AsyncDisposableStack()
    const running = []
    for (const part of parts) {
      const group = groups.use(await memoryCgroup(`reeve-bench-${part}`))
      // The mounts go with the namespace.
      const isolated = part === 'server' || part === 'all' ? ['unshare', '--mount', '--propagation', 'private'] : []
      const [file = '', ...args] = [...group.prefix, ...isolated, process.execPath, program, ...commands[part]]
      const child = spawn(file, args, { stdio: 'ignore' })
      children.push(child)
      running.push({ part, group })
    }
    await until(() => stat(socket))
    await until(() => fetch(`http://127.0.0.1:${port}/healthz`))
    for (let probe = 0; probe < PROBES; probe++) await fetch(`http://127.0.0.1:${port}/healthz`)
    await pause(1_000)
    const rest = await Promise.all(running.map(({ group }) => group.anonymousBytes()))
    await mountVolumes(socket, folder)
    const measured = running.map(({ part, group }, index) => ({
      part,
      restBytes: rest[index] ?? 0,
      peakBytes: group.peakBytes,
    }))
    await ended(children)
    return measured
  } finally {
    await ended(children)
    await rm(folder, { recursive: true, force: true })
  }
}

async function ended(children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  }
}

async function prepareData(folder: string): Promise<string> {
  const data = join(folder, 'data')
  const module = join(data, 'codemodules/1')
  await mkdir(module, { recursive: true })
  await mkdir(join(data, '_dynakubes/dk'), { recursive: true })
  await symlink(module, join(data, '_dynakubes/dk/latest-codemodule'))
  return data
}

async function mountVolumes(socket: string, folder: string): Promise<void> {
  const { signal } = new AbortController()
  const call = (method: string, request: Uint8Array) =>
    callUnix(socket, `/csi.v1.Node/${method}`, { timeoutMs: 30_000, signal, request })
  let next = 0
  const work = async () => {
    while (next < VOLUMES) {
      const id = `volume-${next++}`
      const target = join(folder, 'pods', id)
      await call('NodePublishVolume', publishRequest(id, target))
      await call('NodeUnpublishVolume', unpublishRequest(id, target))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function until(attempt: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const isThere = await attempt().then(
      () => true,
      () => false,
    )
    if (isThere) return
    await pause(20)
  }
}
