/** Unpublishes volumes of pods. */
import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AppVolumePaths, DataPaths } from '../data-paths.ts'
import { unmountAll } from '../mounts/mounts.ts'
import type { NodeUnpublishVolumeRequest } from '../wire/csi-messages.ts'
import type { PublishContext } from './app-volume.ts'
import { isMissing, isNoDirectory } from './file-errors.ts'
import { readPodInfo, removePodLink } from './pod-link.ts'
import { DEFAULT_RETRY_TIMEOUT_MS } from './publish-request.ts'
import { otherPlaceOf, ownerOf, readRecord } from './volume-record.ts'

/** What to unpublish. */
interface Published {
  readonly id: string
  readonly directories: AppVolumePaths
  /** Absent if something else is mounted there. */
  readonly targetPath?: string
}

/**
 * Unmounts a volume and deletes what belongs to it, its target directory too, whatever its mode. What another volume has
 * at the target stays.
 *
 * A volume that is in use fails, so that the kubelet calls again. A file that is never closed must not keep a pod in
 * Terminating: after the time that the volume gave its mount, it is detached instead, and the provisioner deletes the rest.
 *
 * *Errors*: those of the file system and of mounts.
 */
export async function unpublishVolume(request: NodeUnpublishVolumeRequest, context: PublishContext): Promise<void> {
  const { volumeId: id, targetPath } = request
  const { paths, logger, publishFailures, unpublishFailures } = context
  const directories = paths.appVolume(id)
  const { retryTimeoutMs = DEFAULT_RETRY_TIMEOUT_MS } = readRecord(directories)
  const owner = ownerOf(targetPath, id, paths)
  const published: Published = { id, directories, ...(owner === id && { targetPath }) }
  if (owner !== id) logger.info({ volume: id, target: targetPath, owner }, 'kept a target that is not of this volume')
  try {
    await remove(published, request, context)
  } catch (error) {
    if (!unpublishFailures.haveLasted(id, retryTimeoutMs)) throw error
    logger.warn({ volume: id, target: targetPath, err: error }, 'detaching a volume that is still in use')
    await detach(published, context)
  }
  for (const failures of [publishFailures, unpublishFailures]) failures.clear(id)
}

async function remove(
  published: Published,
  request: NodeUnpublishVolumeRequest,
  context: PublishContext,
): Promise<void> {
  const { paths, mounts, logger } = context
  const { id, directories, targetPath } = published
  // What is still mounted is in use; deleting what it shows would break it. More mounts at the same place are rare, so
  // that looking for them does not hold up the rest.
  const wasMounted = targetPath !== undefined && (await mounts.unmount(targetPath))
  if (!wasMounted && (await otherPlaceOf(directories, request.targetPath)) !== undefined) {
    logger.info({ volume: id }, 'kept a volume that is published at another path')
    return
  }
  // There is no overlay for a host agent, or for a pod without an agent.
  await all([targetPath && unmountAll(targetPath, mounts), mounts.unmount(directories.mapped)])
  const removingLink = async () => removePodLink(readPodInfo(directories), directories, paths)
  await all([unmountAll(directories.mapped, mounts), removingLink()])
  if (targetPath !== undefined) removeTarget(targetPath)
  await removeVolume(directories)
}

/** Waits for all, so that nothing runs any more when one has failed. */
async function all(works: readonly (Promise<unknown> | string | undefined)[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
}

/** What cannot be deleted now, such as on a disk that is read-only, is logged. */
async function detach(
  { id, directories, targetPath }: Published,
  { paths, mounts, logger }: PublishContext,
): Promise<void> {
  if (targetPath !== undefined) await unmountAll(targetPath, mounts, 'lazily')
  await unmountAll(directories.mapped, mounts, 'lazily')
  const attempt = (what: string, work: () => void) => {
    try {
      work()
    } catch (error) {
      logger.error({ volume: id, err: error }, what)
    }
  }
  if (targetPath !== undefined) attempt('cannot delete the target of a volume', () => removeTarget(targetPath))
  attempt('cannot delete the link of a pod', () => removePodLink(readPodInfo(directories), directories, paths))
  attempt('cannot move what is left of a volume', () => leaveToProvisioner(directories, paths))
}

/** Only if it is empty: a link, or what others put below the mount, is not of this volume. */
function removeTarget(targetPath: string): void {
  try {
    rmdirSync(targetPath)
  } catch (error) {
    if (!isMissing(error) && !isNoDirectory(error)) throw error
  }
}

/** What is still open is in these directories: the next volume with the same id must not find them. */
function leaveToProvisioner({ root }: AppVolumePaths, { detachedVolumes }: DataPaths): void {
  if (lstatSync(root, { throwIfNoEntry: false }) === undefined) return
  mkdirSync(detachedVolumes, { recursive: true, mode: 0o700 })
  renameSync(root, join(detachedVolumes, randomUUID()))
}

async function removeVolume(volume: AppVolumePaths): Promise<void> {
  if (!isRemovedUnwritten(volume)) await removeWritten(volume)
}

/** Deletes a volume into which the pod wrote nothing, in as few steps as possible; returns false for any other. */
function isRemovedUnwritten({ root, mapped, upper, work, podInfo, record }: AppVolumePaths): boolean {
  try {
    for (const path of [podInfo, record]) unlinkSync(path)
    // The last one was made by the kernel.
    for (const path of [mapped, upper, join(work, 'work'), work, root]) rmdirSync(path)
    return true
  } catch {
    // There is more to delete, or less.
    return false
  }
}

/**
 * Deletes however much a pod wrote, on threads. A volume of an earlier release is a link to its directories; deleting the
 * link alone would leave them.
 */
async function removeWritten({ root, upper, work, record }: AppVolumePaths): Promise<void> {
  if (lstatSync(root, { throwIfNoEntry: false })?.isSymbolicLink()) {
    for (const path of [upper, work, record]) await rm(path, { recursive: true, force: true })
  }
  await rm(root, { recursive: true, force: true })
}
