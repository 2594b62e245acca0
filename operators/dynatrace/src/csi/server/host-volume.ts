/** Volumes of host agents: a directory of the node that outlives the pod. */
import { existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { STATUS, StatusError } from '../grpc/status-error.ts'
import type { PublishContext } from './app-volume.ts'
import { isMissing, isTaken } from './file-errors.ts'
import type { Volume } from './publish-request.ts'
import { writeRecord } from './volume-record.ts'

const OPEN_TO_ALL = 0o777

/**
 * Binds the storage of the DynaKube's host agent to the pod. A symbolic link in its place, from an earlier layout, is
 * followed as long as it leads somewhere.
 *
 * Host agents are privileged and trust what they stored, and whoever may create pods chooses the attributes of a volume.
 * The namespace is set by the kubelet.
 *
 * *Errors*: `PERMISSION_DENIED` for a pod of another namespace than the operator's; `UNAVAILABLE` until the provisioner has
 * made the directory of the DynaKube; those of the file system and of mounts.
 */
export async function publishHostVolume(volume: Volume, { paths, mounts, namespace }: PublishContext): Promise<void> {
  const { id, dynakube, podNamespace, targetPath } = volume
  if (podNamespace !== namespace) {
    const message = `mode host is for pods of the namespace ${namespace} only; this pod is in ${podNamespace}: use mode app`
    throw new StatusError(STATUS.permissionDenied, message)
  }
  const storage = paths.hostStorage(dynakube)
  if (leadsNowhere(storage)) rmSync(storage)
  if (!isStorageMade(storage)) {
    throw new StatusError(STATUS.unavailable, `the provisioner does not know the DynaKube ${dynakube} yet`)
  }
  const directories = paths.appVolume(id)
  for (const path of [directories.root, targetPath]) mkdirSync(path, { recursive: true, mode: OPEN_TO_ALL })
  writeRecord(directories, volume)
  await mounts.bind(storage, targetPath)
}

/** Makes the storage in the directory of its DynaKube; returns false if there is none, and never makes that. */
function isStorageMade(storage: string): boolean {
  try {
    mkdirSync(storage, OPEN_TO_ALL)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    if (isTaken(error)) return true
    throw error
  }
}

function leadsNowhere(path: string): boolean {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  return isLink && !existsSync(path)
}
