/** A memory cgroup for a process under test, as a kubelet makes one for a container with a memory limit. */
import { access, constants, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = '/sys/fs/cgroup'

/** The files of both generations of cgroups. */
const GENERATIONS = [
  {
    root: join(ROOT, 'memory'),
    limit: 'memory.limit_in_bytes',
    peak: 'memory.max_usage_in_bytes',
    kills: 'memory.oom_control',
  },
  { root: ROOT, limit: 'memory.max', peak: 'memory.peak', kills: 'memory.events' },
] as const

type Generation = (typeof GENERATIONS)[number]

/** A cgroup; it is removed when it is disposed of, which needs its processes to have ended. */
export class MemoryGroup implements AsyncDisposable {
  readonly path: string
  readonly #generation: Generation

  private constructor(path: string, generation: Generation) {
    this.path = path
    this.#generation = generation
  }

  /** Why no group can be made on this machine; `undefined` when one can. */
  static async obstacle(): Promise<string | undefined> {
    if (process.getuid?.() !== 0) return 'a memory cgroup can only be created by root'
    return (await usable()) === undefined ? `no writable memory cgroup below ${ROOT}` : undefined
  }

  static async create(name: string, limitBytes: number): Promise<MemoryGroup> {
    const generation = await usable()
    if (generation === undefined) throw new Error('check MemoryGroup.obstacle() first')
    const path = join(generation.root, name)
    await mkdir(path)
    await writeFile(join(path, generation.limit), String(limitBytes))
    return new MemoryGroup(path, generation)
  }

  /** The words before a command that run it in this group, from its first instruction on. */
  get runner(): readonly string[] {
    return ['/bin/sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', this.path]
  }

  /** The most memory that was charged at any time, file cache included. */
  async peakBytes(): Promise<number> {
    return Number(await this.#read(this.#generation.peak))
  }

  /** How many processes the kernel killed for lack of memory. */
  async kills(): Promise<number> {
    return Number(/^oom_kill (\d+)$/m.exec(await this.#read(this.#generation.kills))?.[1] ?? 0)
  }

  #read(file: string): Promise<string> {
    return readFile(join(this.path, file), 'utf8')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rmdir(this.path)
  }
}

/** The generation whose memory controller is mounted and writable. */
async function usable(): Promise<Generation | undefined> {
  for (const generation of GENERATIONS) {
    const { root, limit } = generation
    // The root group of the second generation has no limit; its children have one if memory is delegated.
    const probe = generation.root === ROOT ? 'cgroup.subtree_control' : limit
    const content = await readFile(join(root, probe), 'utf8').catch(() => undefined)
    const isControlled = content !== undefined && (generation.root !== ROOT || content.includes('memory'))
    if (isControlled && (await isWritable(root))) return generation
  }
  return undefined
}

function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  )
}
