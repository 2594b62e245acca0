/**
 * A symbolic link by which people find the volume of a pod, and the note inside the volume that names it.
 *
 * The note lies where applications may write. It is therefore rewritten, and trusted only as far as the link that it
 * names leads to this very volume.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { AppVolumePaths, DataPaths } from '../data-paths.ts'
import { isMissing, isTaken } from './file-errors.ts'

/** The umask of the process is 0: agents of arbitrary users write here. */
const OPEN_TO_ALL = 0o777
/** The provisioner may delete the directory of a DynaKube meanwhile, but not again and again. */
const MAX_ATTEMPTS = 10
/** As long as a path may be. */
const MAX_PATH_BYTES = 4_096

/** Writes the note. A link that an application put in its place is not followed. */
export function writePodInfo({ podInfo }: AppVolumePaths, link: string): void {
  const write = () => writeFileSync(podInfo, link, { mode: OPEN_TO_ALL, flag: 'wx' })
  try {
    write()
  } catch (error) {
    if (!isTaken(error)) throw error
    rmSync(podInfo, { recursive: true, force: true })
    write()
  }
}

/**
 * Makes the link. An older one is replaced: the pods of a StatefulSet have the same name each time.
 *
 * *Errors*: those of the file system.
 */
export function linkPod({ root }: AppVolumePaths, link: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      mkdirSync(dirname(link), { recursive: true, mode: OPEN_TO_ALL })
      symlinkSync(root, link)
      return
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error
      if (isTaken(error)) removeOld(link)
      else if (!isMissing(error)) throw error
    }
  }
}

function removeOld(link: string): void {
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) rmdirSync(link)
  else rmSync(link, { force: true })
}

/** Deletes the link that a note names, and the folder of its namespace if it is empty. */
export function removePodLink(link: string, volume: AppVolumePaths, paths: DataPaths): void {
  // `_dynakubes/<dynakube>/appmounts/<namespace>/<pod>`
  const [folder, , kind, , pod, ...more] = relative(paths.root, link).split('/')
  if (link !== join(link) || folder !== '_dynakubes' || kind !== 'appmounts' || !pod || more.length > 0) return
  const target = targetOf(link)
  if (target === volume.root) unlinkSync(link)
  // Without a link a killed process may have removed it, but not the folder.
  else if (target !== undefined) return
  try {
    rmdirSync(dirname(link))
  } catch {
    // Other pods of the namespace have links.
  }
}

/** Where a link leads; empty for something else than a link, `undefined` if there is nothing. */
export function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch (error) {
    return isMissing(error) ? undefined : ''
  }
}

/** The link that the note names; empty if there is no usable note. */
export function readPodInfo({ podInfo }: AppVolumePaths): string {
  let file: number
  try {
    // Neither a link to another file nor a pipe, which would never end.
    file = openSync(podInfo, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return ''
  }
  try {
    const status = fstatSync(file)
    return status.isFile() && status.size <= MAX_PATH_BYTES ? readFileSync(file, 'utf8') : ''
  } finally {
    closeSync(file)
  }
}
