/** Volumes of host agents: a directory of the node that outlives the pod. */
import { lstat, mkdir, rm, stat } from 'node:fs/promises'
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
    if (await leadsNowhere(storage)) await rm(storage)
    await mkdir(storage, { recursive: true, mode: OPEN_TO_ALL })
    await mkdir(volume.targetPath, { recursive: true, mode: OPEN_TO_ALL })
    await mounts.bind(storage, volume.targetPath)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StatusError(STATUS.internal, `volume ${volume.id}: ${reason}`, { cause: error })
  }
}

async function leadsNowhere(path: string): Promise<boolean> {
  const link = await lstat(path).catch(() => undefined)
  if (!link?.isSymbolicLink()) return false
  return stat(path).then(
    () => false,
    () => true,
  )
}
