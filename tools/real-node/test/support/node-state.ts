/** What is on the node: mounts, files and cgroups. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { NODE_CGROUP } from './cgroups.ts'

const KUBELET = '/var/lib/kubelet'

/** Where the driver keeps its data. */
export const DRIVER_DATA = `${KUBELET}/plugins/csi.oneagent.dynatrace.com/data`

/** Folders in which the product, or the kubelet on its behalf, leaves something. */
const FOLDERS = [
  `${KUBELET}/plugins`,
  `${KUBELET}/plugins_registry`,
  `${KUBELET}/pods`,
  '/opt',
  '/var/lib/dynatrace',
  '/var/log/dynatrace',
  '/var/log/pods',
  '/run/dynatrace',
]

/** Mount points of volumes of the driver, and of its overlays below them. */
export async function driverMounts(): Promise<readonly string[]> {
  return (await mountPoints()).filter(
    (path) => path.startsWith(`${DRIVER_DATA}/`) || path.includes('/volumes/kubernetes.io~csi/'),
  )
}

/** Everything that an installation could leave behind, as sorted lines. */
export async function nodeState(): Promise<readonly string[]> {
  const files = await Promise.all(FOLDERS.map((folder) => filesBelow(folder)))
  const mounts = (await mountPoints()).filter((path) => path.startsWith('/var/') || path.startsWith('/run/'))
  const cgroups = await filesBelow(join(NODE_CGROUP, 'kubepods'), 'folders')
  return [...files.flat(), ...mounts.map((path) => `mount ${path}`), ...cgroups].sort()
}

async function mountPoints(): Promise<readonly string[]> {
  const table = await readFile('/proc/self/mounts', 'utf8')
  return table.split('\n').flatMap((line) => line.split(' ')[1] ?? [])
}

/** Paths below a folder; what disappears meanwhile is left out. */
async function filesBelow(folder: string, which: 'all' | 'folders' = 'all'): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const below = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return [path, ...(await filesBelow(path, which))]
      return which === 'all' ? [path] : []
    }),
  )
  return below.flat()
}
