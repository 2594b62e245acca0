/** Makes a folder appear whole or not at all. */
import { access, lstat, mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Where and how a folder is installed. */
export interface InstallFolderOptions {
  /** The folder to make. */
  readonly target: string
  /** Scratch folder on the same file system; deleted before and after. */
  readonly work: string
  /** When the content has this folder, only it becomes the target. @default none */
  readonly preferredSubfolder?: string
}

/**
 * Calls `fill` with the work folder and then renames it to the target. An existing target is complete by
 * construction and not changed: the result then is `false`.
 *
 * *Guarantees*: after a failure or a crash there is no target, and the next attempt starts clean.
 *
 * @example
 * await installFolder({ target, work }, (folder) => unpackZip(file, folder, { signal }))
 */
export async function installFolder(
  { target, work, preferredSubfolder }: InstallFolderOptions,
  fill: (folder: string) => Promise<void>,
): Promise<boolean> {
  if (await exists(target)) return false
  await rm(work, { recursive: true, force: true })
  // Not open to all, even in a process whose umask is 0.
  await mkdir(work, { recursive: true, mode: 0o755 })
  try {
    await fill(work)
    const preferred = preferredSubfolder === undefined ? undefined : join(work, preferredSubfolder)
    await mkdir(dirname(target), { recursive: true, mode: 0o755 })
    await rename(preferred !== undefined && (await isFolder(preferred)) ? preferred : work, target)
    return true
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function isFolder(path: string): Promise<boolean> {
  // Not through a link: an archive must not choose what is renamed.
  return lstat(path).then(
    (status) => status.isDirectory(),
    () => false,
  )
}
