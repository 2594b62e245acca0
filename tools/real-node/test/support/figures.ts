/** Figures of a run, printed at the end of each suite. */
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Json, kubectl, list } from './kubectl.ts'

const MIB = 1024 * 1024
const cgroup = process.env.REEVE_NODE_CGROUP ?? ''

/** Memory of a container as its cgroup accounts for it. */
export interface ContainerMemory {
  readonly container: string
  readonly peakMiB: number
  /** Without the page cache. */
  readonly restMiB: number
  readonly limitMiB: number | undefined
}

/** The memory of all containers of a namespace that run. */
export async function containerMemory(namespace: string): Promise<readonly ContainerMemory[]> {
  const figures: ContainerMemory[] = []
  for (const pod of await list('pods', namespace)) {
    for (const status of pod.status.containerStatuses ?? []) {
      const folder = await cgroupOf(String(status.containerID).replace('containerd://', ''))
      if (folder === undefined) continue
      const limits = pod.spec.containers.find((each: Json) => each.name === status.name)?.resources.limits
      figures.push({
        container: `${pod.metadata.generateName ?? pod.metadata.name}${status.name}`,
        ...(await memoryOf(folder)),
        limitMiB: limits?.memory === undefined ? undefined : Number.parseInt(limits.memory, 10),
      })
    }
  }
  return figures
}

/** Containers of a namespace that were killed for lack of memory. */
export async function killedForMemory(namespace: string): Promise<readonly string[]> {
  const pods = await list('pods', namespace)
  return pods.flatMap((pod) =>
    [...(pod.status.containerStatuses ?? []), ...(pod.status.initContainerStatuses ?? [])]
      .filter(({ state, lastState }: Json) =>
        [state, lastState].some((each) => each?.terminated?.reason === 'OOMKilled'),
      )
      .map(({ name }: Json) => `${pod.metadata.name}/${name}`),
  )
}

/** Prints figures in a table. */
export function print(title: string, rows: readonly object[]): void {
  console.log(`\n${title}`)
  console.table(rows)
}

async function cgroupOf(id: string): Promise<string | undefined> {
  const root = existsSync(join('/sys/fs/cgroup/memory', cgroup)) ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup'
  for await (const path of glob(`kubepods/**/${id}`, { cwd: join(root, cgroup) })) return join(root, cgroup, path)
  return undefined
}

async function memoryOf(folder: string): Promise<{ readonly peakMiB: number; readonly restMiB: number }> {
  const stat = await readFile(join(folder, 'memory.stat'), 'utf8')
  const peakFile = existsSync(join(folder, 'memory.peak')) ? 'memory.peak' : 'memory.max_usage_in_bytes'
  const [, rest = '0'] = /^(?:total_rss|anon) (\d+)$/m.exec(stat) ?? []
  const peak = await readFile(join(folder, peakFile), 'utf8')
  return { peakMiB: Math.round(Number(peak) / MIB), restMiB: Math.round(Number(rest) / MIB) }
}

/** How long the driver took to publish volumes, as the kubelet measured it: calls, and the buckets of p50 and p99. */
export async function publishTimes(driver: string): Promise<object> {
  const metrics = await kubectl('get', '--raw', '/api/v1/nodes/node-1/proxy/metrics')
  const buckets = metrics
    .split('\n')
    .filter((line) => line.startsWith('csi_operations_seconds_bucket') && line.includes(driver))
    .filter((line) => line.includes('NodePublishVolume') && line.includes('grpc_status_code="OK"'))
    .map((line) => {
      const [, le = '', count = ''] = /le="([^"]+)".*\} (\S+)$/.exec(line) ?? []
      return { seconds: le, count: Number(count) }
    })
  const calls = buckets.at(-1)?.count ?? 0
  const below = (share: number) => `≤ ${buckets.find(({ count }) => count >= calls * share)?.seconds} s`
  return { calls, p50: below(0.5), p99: below(0.99) }
}
