/**
 * Publishes volumes through the driver and through a process that makes the bare system calls, alternating, and prints the
 * times. Runs in its own mount namespace.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { publishRequest, unpublishRequest } from './csi-requests.ts'
import { bundleSmallCommands } from './operator-bundle.ts'
import { connectUnix, unaryCall } from './unary-call.ts'

/** Ten of them are slower than the p99. */
const VOLUMES = 1_000
/** Not measured: the code of all processes is compiled meanwhile. */
const WARM_UP = 100

const BARE = fileURLToPath(new URL('./csi-bare.ts', import.meta.url))

type Call = 'publish' | 'unpublish'
type Times = Record<'driver' | 'connecting' | 'bare', Record<Call, number[]>>

const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
const [socket, bareSocket] = [join(folder, 'csi.sock'), join(folder, 'bare.sock')]
const [data, pods] = [join(folder, 'data'), join(folder, 'pods')]
process.umask(0)

for (const path of ['codemodules/1', 'appmounts', '_dynakubes/dk/appmounts/bare']) {
  await mkdir(join(data, path), { recursive: true })
}
await mkdir(pods)
await symlink(join(data, 'codemodules/1'), join(data, '_dynakubes/dk/latest-codemodule'))
const program = await bundleSmallCommands(folder)
const flags = [`--endpoint=unix:${socket}`, `--data-root=${data}`, '--metrics-bind-address=127.0.0.1:0']
// As in the chart.
const env = { ...process.env, NODE_OPTIONS: '--max-semi-space-size=2' }
const children = [
  spawn(process.execPath, [program, 'csi-server', ...flags], { stdio: 'ignore', env }),
  spawn(process.execPath, [BARE, bareSocket, data, pods], { stdio: ['ignore', 'ignore', 'inherit'] }),
]

async function serving(path: string, child: ChildProcess | undefined): Promise<void> {
  while (!(await stat(path).catch(() => undefined))) {
    if (child?.exitCode !== null) throw new Error(`nothing serves ${path}`)
    await pause(5)
  }
}

const METHODS = { publish: '/csi.v1.Node/NodePublishVolume', unpublish: '/csi.v1.Node/NodeUnpublishVolume' }
const REQUESTS = { publish: publishRequest, unpublish: unpublishRequest }

/** As the kubelet does it: a connection for each call. */
async function overNewConnection(call: Call, request: Uint8Array): Promise<void> {
  const session = connectUnix(socket)
  await unaryCall(session, METHODS[call], request)
  session.close()
}

try {
  for (const [index, path] of [socket, bareSocket].entries()) await serving(path, children[index])
  const session = connectUnix(socket)
  const bare = createConnection(bareSocket)
  const ways: Readonly<Record<keyof Times, (call: Call, id: string, request: Uint8Array) => Promise<unknown>>> = {
    driver: (call, _, request) => unaryCall(session, METHODS[call], request),
    connecting: (call, _, request) => overNewConnection(call, request),
    bare(call, id) {
      const response = once(bare, 'data')
      bare.write(`${call} ${id}\n`)
      return response
    },
  }
  const times: Times = {
    driver: { publish: [], unpublish: [] },
    connecting: { publish: [], unpublish: [] },
    bare: { publish: [], unpublish: [] },
  }
  for (let index = -WARM_UP; index < VOLUMES; index++) {
    for (const way of ['driver', 'connecting', 'bare'] as const) {
      for (const call of ['publish', 'unpublish'] as const) {
        const id = `${way}-${index}`
        const request = REQUESTS[call](id, join(pods, id))
        const startedAt = performance.now()
        await ways[way](call, id, request)
        if (index >= 0) times[way][call].push(performance.now() - startedAt)
      }
    }
  }
  session.close()
  bare.end()
  process.stdout.write(JSON.stringify(times))
} finally {
  for (const child of children) {
    const ended = once(child, 'exit')
    if (child.exitCode === null && child.kill('SIGTERM')) await ended
  }
  await rm(folder, { recursive: true, force: true })
}
