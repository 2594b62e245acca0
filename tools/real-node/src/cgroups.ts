/** Creates and removes the cgroups of a node. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CGROUP_REMOVAL_TIMEOUT_MS } from './defaults.ts'

const MOUNT = '/sys/fs/cgroup'

/** Folders in which a cgroup has to be created: one with version 2, one per hierarchy with version 1. */
async function cgroupHierarchies(mount = MOUNT): Promise<readonly string[]> {
  if (existsSync(join(mount, 'cgroup.controllers'))) return [mount]
  const entries = await readdir(mount, { withFileTypes: true })
  // Symbolic links are other names of hierarchies with several controllers.
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(mount, entry.name))
}

/** Creates a cgroup in every hierarchy. */
export async function createCgroup(name: string, mount = MOUNT): Promise<void> {
  for (const hierarchy of await cgroupHierarchies(mount)) {
    const folder = join(hierarchy, name)
    await mkdir(folder, { recursive: true })
    // With version 1, the processors and memory nodes of a new cpuset are empty, and so no process can be added to it.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) await inherit(hierarchy, folder, file)
  }
}

/**
 * Removes a cgroup with all its children from every hierarchy.
 *
 * *Assumptions*: its processes have been killed. Some may not have left it yet, so this is retried for some seconds.
 *
 * *Errors*: EBUSY when processes remain.
 */
export async function removeCgroup(name: string, mount = MOUNT): Promise<void> {
  const deadline = Date.now() + CGROUP_REMOVAL_TIMEOUT_MS
  for (const hierarchy of await cgroupHierarchies(mount)) {
    for (;;) {
      try {
        await removeTree(join(hierarchy, name))
        break
      } catch (error) {
        if (Date.now() > deadline) throw error
        await sleep(50)
      }
    }
  }
}

/** The folders of a cgroup that exist, in all hierarchies. */
export async function remainingCgroups(name: string, mount = MOUNT): Promise<readonly string[]> {
  return (await cgroupHierarchies(mount)).map((each) => join(each, name)).filter((folder) => existsSync(folder))
}

// A cgroup is removed by rmdir, although it has files.
async function removeTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(absent)
  for (const entry of entries) {
    if (entry.isDirectory()) await removeTree(join(folder, entry.name))
  }
  await rmdir(folder).catch(absent)
}

function absent(error: NodeJS.ErrnoException): never[] {
  if (error.code === 'ENOENT') return []
  throw error
}

async function inherit(parent: string, child: string, file: string): Promise<void> {
  if (!existsSync(join(child, file)) || !existsSync(join(parent, file))) return
  if ((await readFile(join(child, file), 'utf8')).trim() !== '') return
  await writeFile(join(child, file), await readFile(join(parent, file), 'utf8'))
}
