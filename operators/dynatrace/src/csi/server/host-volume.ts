/** Volumes of host agents: a directory of the node that outlives the pod. */
import { existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { STATUS, StatusError } from '../grpc/status-error.ts'
import type { PublishContext } from './app-volume.ts'
import type { Volume } from './publish-request.ts'

const OPEN_TO_ALL = 0o777

/**
 * Binds the storage of the DynaKube's host agent to the pod. A symbolic link in its place, from an earlier layout, is
 * followed as long as it leads somewhere.
 *
 * *Errors*: `INTERNAL`.
 */
export async function publishHostVolume(volume: Volume, { paths, mounts }: PublishContext): Promise<void> {
  const storage = paths.hostStorage(volume.dynakube)
  try {
    if (leadsNowhere(storage)) rmSync(storage)
    for (const path of [storage, volume.targetPath]) mkdirSync(path, { recursive: true, mode: OPEN_TO_ALL })
    await mounts.bind(storage, volume.targetPath)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StatusError(STATUS.internal, `volume ${volume.id}: ${reason}`, { cause: error })
  }
}

function leadsNowhere(path: string): boolean {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  return isLink && !existsSync(path)
}
