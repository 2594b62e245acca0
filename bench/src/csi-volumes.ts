/**
 * Publishes volumes through the driver and directly, alternating, and prints the times. Runs in its own mount
 * namespace.
 */
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { callUnix, kernelMounts, runCsiServer } from '@reeve/dynatrace/csi'
import { silentLogger } from '@reeve/runtime'
import { publishRequest, unpublishRequest } from './csi-requests.ts'

const VOLUMES = 300
const TIMEOUT_MS = 30_000

const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
const socket = join(folder, 'csi.sock')
const data = join(folder, 'data')
const module = join(data, 'codemodules/1')
const stop = new AbortController()
const { signal } = stop
const mounts = await kernelMounts()
process.umask(0)

await mkdir(module, { recursive: true })
await mkdir(join(data, '_dynakubes/dk'), { recursive: true })
await symlink(module, join(data, '_dynakubes/dk/latest-codemodule'))
const options = { socket, nodeId: 'n', dataRoot: data, maxRequests: 20, version: '1', logger: silentLogger, mounts }
const server = runCsiServer({ ...options, metricsAddress: { host: '127.0.0.1', port: 0 } }, signal)
while (!(await stat(socket).catch(() => undefined))) await pause(5)

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

const call = (method: string, request: Uint8Array) =>
  callUnix(socket, `/csi.v1.Node/${method}`, { timeoutMs: TIMEOUT_MS, signal, request })

/** One volume through the driver. */
async function byDriver(id: string): Promise<readonly [number, number]> {
  const target = join(folder, 'pods', id)
  const publish = await timed(() => call('NodePublishVolume', publishRequest(id, target)))
  const unpublish = await timed(() => call('NodeUnpublishVolume', unpublishRequest(id, target)))
  return [publish, unpublish]
}

/** The same directories, files and mounts, with nothing around them. */
async function byHand(id: string): Promise<readonly [number, number]> {
  const root = join(data, 'appmounts', id)
  const [mapped, upper, work, target] = [join(root, 'mapped'), join(root, 'var'), join(root, 'work'), join(folder, id)]
  const link = join(data, '_dynakubes/dk/appmounts/bare', id)
  const publish = await timed(async () => {
    for (const path of [mapped, upper, work, target]) await mkdir(path, { recursive: true })
    await writeFile(join(upper, 'pod-info'), link)
    await mounts.overlay({ lower: module, upper, work, target: mapped })
    await mounts.bind(mapped, target)
    await mkdir(join(link, '..'), { recursive: true })
    await symlink(root, link)
  })
  const unpublish = await timed(async () => {
    await mounts.unmount(target)
    await mounts.unmount(mapped)
    await rm(link)
    await rm(root, { recursive: true })
  })
  return [publish, unpublish]
}

const times = {
  driver: { publish: [] as number[], unpublish: [] as number[] },
  bare: { publish: [] as number[], unpublish: [] as number[] },
}
try {
  for (let index = 0; index < VOLUMES; index++) {
    for (const [name, run] of [
      ['driver', byDriver],
      ['bare', byHand],
    ] as const) {
      const [publish, unpublish] = await run(`${name}-${index}`)
      times[name].publish.push(publish)
      times[name].unpublish.push(unpublish)
    }
  }
  process.stdout.write(JSON.stringify(times))
} finally {
  stop.abort()
  await server
  await rm(folder, { recursive: true, force: true })
}
