/** Publishes volumes on an installed agent, lets each pod write, and prints the disk that the data directory uses. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { callUnix, runCsiServer } from '@reeve/dynatrace/csi'
import { silentLogger } from '@reeve/runtime'
import { publishRequest, unpublishRequest } from './csi-requests.ts'

/** A log and a configuration. */
const WRITTEN_BYTES = 64 * 1024

const [, , dataRoot = '', count = ''] = process.argv
const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-pods-'))
const socket = join(folder, 'csi.sock')
const stop = new AbortController()
const { signal } = stop
process.umask(0)
const options = {
  socket,
  nodeId: 'n',
  namespace: 'dynatrace',
  dataRoot,
  maxRequests: 20,
  version: '1',
  logger: silentLogger,
}
const server = runCsiServer({ ...options, metricsAddress: { host: '127.0.0.1', port: 0 } }, signal)
while (!(await stat(socket).catch(() => undefined))) await pause(5)
const call = (method: string, request: Uint8Array) =>
  callUnix(socket, `/csi.v1.Node/${method}`, { timeoutMs: 30_000, signal, request })
const pods = Array.from({ length: Number(count) }, (_, index) => ({
  id: `pod-${index}`,
  target: join(folder, 'pods', `pod-${index}`),
}))
for (const { id, target } of pods) {
  await call('NodePublishVolume', publishRequest(id, target))
  await writeFile(join(target, 'log'), Buffer.alloc(WRITTEN_BYTES, 1))
}
const { stdout } = await promisify(execFile)('du', ['-sx', '--block-size=1', dataRoot])
process.stdout.write(stdout.split('\t')[0] ?? '')
for (const { id, target } of pods) await call('NodeUnpublishVolume', unpublishRequest(id, target))
stop.abort()
await server
await rm(folder, { recursive: true, force: true })
