/**
 * A symbolic link by which people find the volume of a pod, and the note inside the volume that names it.
 *
 * The note lies where applications may write. It is therefore rewritten, and trusted only as far as the link that it
 * names leads to this very volume.
 */
import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, readlink, rm, rmdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { AppVolumePaths, DataPaths } from '../data-paths.ts'
import { isMissing, isTaken } from './file-errors.ts'

/** The umask of the process is 0: agents of arbitrary users write here. */
const OPEN_TO_ALL = 0o777
/** Many more than pods of one namespace that leave at the same moment. */
const MAX_ATTEMPTS = 100
/** As long as a path may be. */
const MAX_PATH_BYTES = 4_096

/** Writes the note. A link that an application put in its place is not followed. */
export async function writePodInfo({ podInfo }: AppVolumePaths, link: string): Promise<void> {
  const write = () => writeFile(podInfo, link, { mode: OPEN_TO_ALL, flag: 'wx' })
  try {
    await write()
  } catch (error) {
    if (!isTaken(error)) throw error
    await rm(podInfo, { recursive: true, force: true })
    await write()
  }
}

/**
 * Makes the link. An older one is replaced: the pods of a StatefulSet have the same name each time.
 *
 * *Errors*: those of the file system.
 */
export async function linkPod({ root }: AppVolumePaths, link: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      // Most often the folder exists and the link does not.
      return await symlink(root, link)
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error
      if (isMissing(error)) await makeFolder(dirname(link))
      else if (isTaken(error)) await removeOld(link)
      else throw error
    }
  }
}

/** May fail, and be gone again, when the last other pod of the namespace leaves: its folder is removed with its link. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: OPEN_TO_ALL }).catch((error: unknown) => {
    if (!isMissing(error)) throw error
  })
}

async function removeOld(link: string): Promise<void> {
  const existing = await status(link)
  await (existing?.isDirectory() ? rmdir(link) : rm(link, { force: true }))
}

/** Deletes the link that a note names, and the folder of its namespace if it is empty. */
export async function removePodLink(link: string, volume: AppVolumePaths, paths: DataPaths): Promise<void> {
  // `_dynakubes/<dynakube>/appmounts/<namespace>/<pod>`
  const [folder, , kind, , pod, ...more] = relative(paths.root, link).split('/')
  if (link !== join(link) || folder !== '_dynakubes' || kind !== 'appmounts' || !pod || more.length > 0) return
  const target = await readlink(link).catch((error: unknown) => (isMissing(error) ? undefined : ''))
  if (target === volume.root) await rm(link, { force: true })
  // Without a link a killed process may have removed it, but not the folder.
  else if (target !== undefined) return
  // Other pods of the namespace may have links.
  await rmdir(dirname(link)).catch(() => undefined)
}

/** The link that the note names; empty if there is no usable note. */
export async function readPodInfo({ podInfo }: AppVolumePaths): Promise<string> {
  // Neither a link to another file nor a pipe, which would never end.
  const file = await open(podInfo, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  )
  if (file === undefined) return ''
  try {
    const { size } = await file.stat()
    return size > 0 && size <= MAX_PATH_BYTES ? await file.readFile('utf8') : ''
  } finally {
    await file.close()
  }
}

function status(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined)
}
