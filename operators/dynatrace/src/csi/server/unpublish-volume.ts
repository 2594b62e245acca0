/** Unpublishes volumes of pods. */
import { lstatSync, rmdirSync, unlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AppVolumePaths } from '../data-paths.ts'
import { placesOf, readMounts } from '../mounts/mount-table.ts'
import { unmountAll } from '../mounts/mounts.ts'
import type { NodeUnpublishVolumeRequest } from '../wire/csi-messages.ts'
import type { PublishContext } from './app-volume.ts'
import { readPodInfo, removePodLink } from './pod-link.ts'

/**
 * Unmounts a volume and deletes what belongs to it, whatever its mode. Never fails: a pod must not stay in
 * Terminating because of its monitoring. What could not be removed is logged, and found again by the next call.
 */
export async function unpublishVolume(
  { volumeId, targetPath }: NodeUnpublishVolumeRequest,
  context: PublishContext,
): Promise<void> {
  const { paths, mounts, logger } = context
  const volume = paths.appVolume(volumeId)
  const attempt = async (what: string, work: () => unknown): Promise<boolean> => {
    try {
      await work()
      return true
    } catch (error) {
      logger.error({ volume: volumeId, error }, what)
      return false
    }
  }
  const ofTarget = 'cannot unmount the target of a volume'
  const ofOverlay = 'cannot unmount the overlay of a volume'
  // What is still mounted is in use; deleting what it shows would break it. More mounts at the same place are rare, so
  // that looking for them does not hold up the rest.
  let wasMounted = true
  const unmountTarget = async () => {
    wasMounted = await mounts.unmount(targetPath)
  }
  if (!(await attempt(ofTarget, unmountTarget))) return
  if (!wasMounted && placesOf(volume.mapped, await readMounts()).length > 0) {
    logger.info({ volume: volumeId }, 'kept a volume that is published at another path')
    return
  }
  // There is none for a host agent, or for a pod without an agent.
  const unmounted = await Promise.all([
    attempt(ofTarget, () => unmountAll(targetPath, mounts)),
    attempt(ofOverlay, () => mounts.unmount(volume.mapped)),
  ])
  if (unmounted.includes(false)) return
  const [isUnmounted] = await Promise.all([
    attempt(ofOverlay, () => unmountAll(volume.mapped, mounts)),
    attempt('cannot delete the link of a pod', () => removePodLink(readPodInfo(volume), volume, paths)),
  ])
  if (isUnmounted) await attempt('cannot delete what a pod wrote', () => removeVolume(volume))
}

async function removeVolume(volume: AppVolumePaths): Promise<void> {
  if (!isRemovedUnwritten(volume)) await removeWritten(volume)
}

/** Deletes a volume into which the pod wrote nothing, in as few steps as possible; returns false for any other. */
function isRemovedUnwritten({ root, mapped, upper, work, podInfo }: AppVolumePaths): boolean {
  try {
    unlinkSync(podInfo)
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
async function removeWritten({ root, upper, work }: AppVolumePaths): Promise<void> {
  if (lstatSync(root, { throwIfNoEntry: false })?.isSymbolicLink()) {
    for (const path of [upper, work]) await rm(path, { recursive: true, force: true })
  }
  await rm(root, { recursive: true, force: true })
}
