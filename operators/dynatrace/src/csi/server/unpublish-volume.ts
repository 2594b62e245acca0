/** Unpublishes volumes of pods. */
import { lstat, rm, stat } from 'node:fs/promises'
import type { AppVolumePaths } from '../data-paths.ts'
import { unmountAll } from '../mounts/mounts.ts'
import type { NodeUnpublishVolumeRequest } from '../wire/csi-messages.ts'
import type { PublishContext } from './app-volume.ts'
import { isMissing } from './file-errors.ts'
import { removePodLink } from './pod-link.ts'

/**
 * Unmounts a volume and deletes what belongs to it, whatever its mode. Never fails: a pod must not stay in
 * Terminating because of its monitoring. What could not be removed is logged, and found again by the next call.
 */
export async function unpublishVolume(
  { volumeId, targetPath }: NodeUnpublishVolumeRequest,
  context: PublishContext,
): Promise<void> {
  const { paths, logger } = context
  const volume = paths.appVolume(volumeId)
  const attempt = (what: string, work: Promise<unknown>): Promise<boolean> =>
    work.then(
      () => true,
      (error: unknown) => {
        logger.error({ volume: volumeId, error }, what)
        return false
      },
    )
  // What is still mounted is in use; deleting what it shows would break it.
  if (!(await attempt('cannot unmount the target of a volume', unmountAll(targetPath, context.mounts)))) return
  const mapped = await stat(volume.mapped).then(
    () => 'present',
    (error: unknown) => (isMissing(error) ? 'absent' : 'unreadable'),
  )
  if (mapped === 'absent') {
    // The volume of a host agent, or one without an agent.
    await attempt('cannot delete a volume', rm(volume.root, { recursive: true, force: true }))
    return
  }
  if (!(await attempt('cannot unmount the overlay of a volume', unmountAll(volume.mapped, context.mounts)))) return
  await attempt('cannot delete the link of a pod', removePodLink(volume, paths))
  await attempt('cannot delete what a pod wrote', removeVolume(volume))
}

/** A volume of an earlier release is a link to its directories; deleting only the link would leave them. */
async function removeVolume({ root, upper, work }: AppVolumePaths): Promise<void> {
  if ((await lstat(root)).isSymbolicLink()) {
    for (const path of [upper, work]) await rm(path, { recursive: true, force: true })
  }
  await rm(root, { recursive: true, force: true })
}
