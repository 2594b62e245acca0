/** A memory cgroup, in which anonymous memory of a process is measured as the kubelet does it. */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Version 1 has a hierarchy of its own. */
const V1 = '/sys/fs/cgroup/memory'
const V2 = '/sys/fs/cgroup'
const SAMPLE_MS = 20

/** A cgroup with a process in it. */
export interface MemoryCgroup extends AsyncDisposable {
  /** What comes before a command to run it in the cgroup. */
  readonly prefix: readonly string[]
  anonymousBytes(): Promise<number>
  /** The most anonymous memory that was seen. */
  readonly peakBytes: number
}

/** Makes a cgroup; remove it after its processes have ended. */
export async function memoryCgroup(name: string, limitBytes?: number): Promise<MemoryCgroup> {
  const isV1 = await readFile(join(V1, 'memory.stat'), 'utf8').then(
    () => true,
    () => false,
  )
  const path = join(isV1 ? V1 : V2, `${name}-${process.pid}`)
  await mkdir(path)
  if (limitBytes !== undefined) {
    await writeFile(join(path, isV1 ? 'memory.limit_in_bytes' : 'memory.max'), String(limitBytes))
  }
  const line = isV1 ? /^total_rss (\d+)$/m : /^anon (\d+)$/m
  const anonymousBytes = async () => Number(line.exec(await readFile(join(path, 'memory.stat'), 'utf8'))?.[1] ?? 0)
  const stop = new AbortController()
  let peakBytes = 0
  const sampling = (async () => {
    while (!stop.signal.aborted) {
      peakBytes = Math.max(peakBytes, await anonymousBytes())
      await pause(SAMPLE_MS)
    }
  })()
  return {
    prefix: ['/bin/sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', path],
    anonymousBytes,
    get peakBytes() {
      return peakBytes
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await sampling
      // The kernel needs a moment after the last process has ended.
      for (let attempt = 0; attempt < 50; attempt++) {
        if (
          await rmdir(path).then(
            () => true,
            () => false,
          )
        )
          return
        await pause(SAMPLE_MS)
      }
    },
  }
}
