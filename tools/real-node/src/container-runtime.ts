/** containerd, runc, CNI plugins and iptables: Debian packages, unpacked into the cache instead of installed. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ImageError, isNative, newestPackages, PLATFORMS, unpackPackages } from '@reeve/image'
import { cacheFolder } from '@reeve/real-cluster'
import { UnsupportedMachineError } from './errors.ts'

// The libraries that Debian's base system lacks are included; the C library is the machine's.
const PACKAGES = [
  'busybox-static',
  'containerd',
  'containernetworking-plugins',
  'iptables',
  'libip4tc2',
  'libip6tc2',
  'libmnl0',
  'libnetfilter-conntrack3',
  'libnfnetlink0',
  'libnftnl11',
  'libseccomp2',
  'libxtables12',
  'runc',
]

const IPTABLES = ['iptables', 'iptables-save', 'iptables-restore', 'ip6tables', 'ip6tables-save', 'ip6tables-restore']

/** Where the programs are. */
export interface ContainerRuntime {
  /** Root of the unpacked packages. */
  readonly root: string
  /** Variables with which the programs find each other and their libraries. */
  readonly env: Readonly<Record<string, string>>
  /** Folder of the CNI plugins. */
  readonly cniPlugins: string
  /** A static shell with the usual commands, for the images of test pods. */
  readonly busybox: string
}

/** The programs, downloaded first if necessary. *Errors*: `UnsupportedMachineError` when there are no such packages. */
export async function ensureContainerRuntime({ signal }: { signal?: AbortSignal } = {}): Promise<ContainerRuntime> {
  const platform = PLATFORMS.find(isNative)
  if (platform === undefined) throw new UnsupportedMachineError(`No packages for ${process.platform} ${process.arch}.`)
  const folder = join(cacheFolder(), 'container-runtime')
  const key = createHash('sha256')
    .update(JSON.stringify([PACKAGES, IPTABLES]))
    .digest('hex')
    .slice(0, 12)
  const root = join(folder, `${key}-${process.arch}`)
  if (!existsSync(root)) {
    const options = { folder, ...(signal && { signal }) }
    await mkdir(folder, { recursive: true })
    const partial = `${root}.partial-${process.pid}`
    try {
      await unpackPackages(platform, PACKAGES, await newestPackages([platform], PACKAGES, options), partial, options)
      await mkdir(join(partial, 'bin'), { recursive: true })
      // The packages leave these names to the alternatives system.
      for (const name of IPTABLES) await symlink('../usr/sbin/xtables-nft-multi', join(partial, 'bin', name))
      await rename(partial, root)
    } catch (error) {
      if (!(error instanceof ImageError)) throw error
      throw new UnsupportedMachineError(`The packages of containerd and runc cannot be had: ${error.message}`)
    } finally {
      await rm(partial, { recursive: true, force: true })
    }
  }
  return describe(root)
}

async function describe(root: string): Promise<ContainerRuntime> {
  const [libraries = ''] = (await readdir(join(root, 'usr/lib'))).filter((name) => name.endsWith('-linux-gnu'))
  const folders = ['bin', 'usr/bin', 'usr/sbin', 'sbin'].map((name) => join(root, name))
  return {
    root,
    env: {
      PATH: [...folders, process.env.PATH, '/usr/sbin', '/sbin'].join(':'),
      LD_LIBRARY_PATH: join(root, 'usr/lib', libraries),
      XTABLES_LIBDIR: join(root, 'usr/lib', libraries, 'xtables'),
    },
    cniPlugins: join(root, 'usr/lib/cni'),
    busybox: join(root, 'bin/busybox'),
  }
}
