/** Decides whether a node can run on this machine. */
import { existsSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { delimiter, join } from 'node:path'

/** What is known about the machine. */
export interface Machine {
  readonly platform: string
  /** Of the current user; `undefined` where users have none. */
  readonly uid: number | undefined
  readonly hasFile: (path: string) => boolean
  readonly hasProgram: (name: string) => boolean
  /** Content of `/etc/os-release`. */
  readonly osRelease: string
  /** Memory that processes may use. */
  readonly memoryBytes: number
}

const OS_RELEASE = '/etc/os-release'
const GIB = 1024 ** 3
/** For the control plane, the node and the pods of the suites; a machine of 6 GiB has a little less. */
const MIN_MEMORY_BYTES = 5.5 * GIB

const PROGRAMS: readonly (readonly [name: string, debianPackage: string])[] = [
  ['apt-get', 'apt'],
  ['dpkg-deb', 'dpkg'],
  ['unshare', 'util-linux'],
  ['setpriv', 'util-linux'],
  ['mount', 'mount'],
  ['ip', 'iproute2'],
]

/** Why a node cannot run, with the remedy; `undefined` when it can. */
export function whyNoNode({ platform, uid, hasFile, hasProgram, osRelease, memoryBytes }: Machine): string | undefined {
  if (platform !== 'linux') return 'A node needs Linux: it runs containers. Use a virtual machine with Debian.'
  if (uid !== 0) return 'A node needs root for namespaces, mounts and cgroups. Run again as root.'
  if (!hasFile('/sys/fs/cgroup')) return 'No cgroups are mounted at /sys/fs/cgroup, which containers need.'
  const missing = PROGRAMS.filter(([name]) => !hasProgram(name))
  if (missing.length > 0) {
    const packages = [...new Set(missing.map(([, debianPackage]) => debianPackage))].join(' ')
    return `Missing: ${missing.map(([name]) => name).join(', ')}. On Debian or Ubuntu: apt-get install ${packages}`
  }
  if (!/^VERSION_CODENAME="?bookworm"?$/m.test(osRelease)) {
    return 'The images of the operators need the packages of Debian 12. Use it, or a container of it with all privileges.'
  }
  if (memoryBytes < MIN_MEMORY_BYTES) {
    return `A node needs 6 GiB of memory; there are ${(memoryBytes / GIB).toFixed(1)}. Use a larger machine.`
  }
  return undefined
}

/** This machine. */
export function thisMachine(): Machine {
  const folders = (process.env.PATH ?? '').split(delimiter).concat('/usr/sbin', '/sbin')
  return {
    platform: process.platform,
    uid: process.getuid?.(),
    hasFile: existsSync,
    hasProgram: (name) => folders.some((folder) => existsSync(join(folder, name))),
    osRelease: existsSync(OS_RELEASE) ? readFileSync(OS_RELEASE, 'utf8') : '',
    // 0 where nothing limits the process.
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
  }
}
