/** Containers as the kernel knows them: their cgroups and processes. */
import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json } from './kubectl.ts'

const cgroup = process.env.REEVE_NODE_CGROUP ?? ''
// With version 1, memory has a hierarchy of its own.
const isVersion1 = existsSync(join('/sys/fs/cgroup/memory', cgroup))

/** The cgroup of the node's pods. */
export const NODE_CGROUP = join(isVersion1 ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup', cgroup)

/** The memory cgroup of a container; `undefined` when it does not run. */
export async function cgroupOf(status: Json): Promise<string | undefined> {
  const id = String(status.containerID).replace('containerd://', '')
  for await (const path of glob(`kubepods/**/${id}`, { cwd: NODE_CGROUP })) return join(NODE_CGROUP, path)
  return undefined
}

/** How many processes of a container the kernel has killed because its limit was reached. */
export async function memoryKills(folder: string): Promise<number> {
  const events = await readFile(join(folder, isVersion1 ? 'memory.oom_control' : 'memory.events'), 'utf8')
  const [, kills] = /^oom_kill (\d+)$/m.exec(events) ?? []
  if (kills === undefined) throw new Error(`no count of killed processes in:\n${events}`)
  return Number(kills)
}

/** Kills everything in a cgroup, as the kernel does when memory runs out; returns how many processes there were. */
export async function killProcesses(folder: string): Promise<number> {
  const processes = (await readFile(join(folder, 'cgroup.procs'), 'utf8')).split('\n').filter((line) => line !== '')
  for (const pid of processes) process.kill(Number(pid), 'SIGKILL')
  return processes.length
}
