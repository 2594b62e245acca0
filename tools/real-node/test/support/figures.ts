/** Figures of a run, printed at the end of each suite. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cgroupOf, memoryKills } from './cgroups.ts'
import { type Json, kubectl, list } from './kubectl.ts'

const MIB = 1024 * 1024

/** Memory of a container as its cgroup accounts for it. */
interface ContainerMemory {
  readonly container: string
  readonly peakMiB: number
  /** Without the page cache. */
  readonly restMiB: number
  readonly limitMiB: number | undefined
}

/** The memory of all containers of a namespace that run. */
async function containerMemory(namespace: string): Promise<readonly ContainerMemory[]> {
  const figures: ContainerMemory[] = []
  for (const pod of await list('pods', namespace)) {
    for (const status of pod.status.containerStatuses ?? []) {
      const folder = await cgroupOf(status)
      if (folder === undefined) continue
      const limits = pod.spec.containers.find((each: Json) => each.name === status.name)?.resources.limits
      figures.push({
        container: `${pod.metadata.generateName ?? pod.metadata.name}${status.name}`,
        ...(await memoryOf(folder)),
        limitMiB: limits?.memory === undefined ? undefined : mebibytes(limits.memory),
      })
    }
  }
  return figures
}

/**
 * Containers of a namespace in which the kernel killed a process for lack of memory: those that run, by the events of their
 * cgroups, and those that ended, by what the kubelet has noted.
 */
async function killedForMemory(namespace: string): Promise<readonly string[]> {
  const killed: string[] = []
  for (const pod of await list('pods', namespace)) {
    const { containerStatuses = [], initContainerStatuses = [] } = pod.status
    for (const status of [...containerStatuses, ...initContainerStatuses]) {
      const folder = await cgroupOf(status)
      const hasEvents = folder !== undefined && (await memoryKills(folder)) > 0
      const isNoted = [status.state, status.lastState].some((each) => each?.terminated?.reason === 'OOMKilled')
      if (hasEvents || isNoted) killed.push(`${pod.metadata.name}/${status.name}`)
    }
  }
  return killed
}

/** Prints the memory of all containers of namespaces; returns those in which the kernel killed a process for lack of it. */
export async function recordMemory(...namespaces: readonly string[]): Promise<readonly string[]> {
  let measured = 0
  for (const namespace of namespaces) {
    const figures = await containerMemory(namespace)
    if (figures.length > 0) print(`memory in ${namespace}`, figures)
    measured += figures.length
  }
  if (measured === 0) throw new Error(`no container runs in ${namespaces.join(', ')}: there is no memory to check`)
  return (await Promise.all(namespaces.map(killedForMemory))).flat()
}

/** A quantity of memory, of which the charts use two units. */
function mebibytes(quantity: string): number {
  const [, count = '', unit = ''] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? []
  if (count === '') throw new Error(`unknown quantity of memory ${quantity}`)
  return Number(count) * (unit === 'Gi' ? 1024 : 1)
}

/** Prints figures in a table. */
export function print(title: string, rows: readonly object[]): void {
  console.log(`\n${title}`)
  console.table(rows)
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
