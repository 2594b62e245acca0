/** A real limit of memory, as the kernel imposes it on a container. */
import { access, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A cgroup with a limit. */
export interface MemoryCgroup extends AsyncDisposable {
  /** The file through which a process joins. */
  readonly join: string
  /** Highest use so far, page cache included, in bytes. */
  peakBytes(): Promise<number>
}

interface Layout {
  readonly root: string
  readonly limit: string
  /** Memory and swap together; a machine may not count swap. */
  readonly swap: string
  readonly peak: string
}

const V1: Layout = {
  root: '/sys/fs/cgroup/memory',
  limit: 'memory.limit_in_bytes',
  swap: 'memory.memsw.limit_in_bytes',
  peak: 'memory.max_usage_in_bytes',
}
const V2: Layout = { root: '/sys/fs/cgroup', limit: 'memory.max', swap: 'memory.swap.max', peak: 'memory.peak' }

/** Makes one, or says why this machine does not allow it. */
export async function memoryCgroup(limitBytes: number): Promise<MemoryCgroup | string> {
  if (process.getuid?.() !== 0) return 'needs root to make a cgroup'
  const isV2 = await access(join(V2.root, 'cgroup.controllers')).then(
    () => true,
    () => false,
  )
  const { root, limit, swap, peak } = isV2 ? V2 : V1
  const folder = join(root, `reeve-test-${process.pid}-${performance.now().toFixed(0)}`)
  try {
    await mkdir(folder)
  } catch (error) {
    return `cannot make a cgroup: ${String(error)}`
  }
  const dispose = () => rmdir(folder).catch(() => undefined)
  try {
    await writeFile(join(folder, limit), String(limitBytes))
  } catch (error) {
    await dispose()
    return `cannot limit the memory of a cgroup: ${String(error)}`
  }
  await writeFile(join(folder, swap), isV2 ? '0' : String(limitBytes)).catch(() => undefined)
  return {
    join: join(folder, 'cgroup.procs'),
    peakBytes: async () => Number(await readFile(join(folder, peak), 'utf8')),
    [Symbol.asyncDispose]: dispose,
  }
}
