/** Removes mounts that a killed process left behind. */
import { type Mount, readMounts } from '../mounts/mount-table.ts'
import type { PublishContext } from './app-volume.ts'

/**
 * Unmounts overlays of volumes that no pod sees: the process was killed between mounting the overlay and binding it to
 * the pod, or between the two unmounts. The kubelet repeats the call that was interrupted, unless the pod no longer
 * exists meanwhile. Directories stay; they hold the time since when the volume is tried.
 *
 * *Errors*: if the table of mounts cannot be read. An overlay that cannot be unmounted is logged.
 */
export async function removeOrphans({
  paths,
  mounts,
  logger,
}: Pick<PublishContext, 'paths' | 'mounts' | 'logger'>): Promise<void> {
  for (const { mountPoint } of orphansOf(await readMounts(), paths.appMounts)) {
    try {
      await mounts.unmount(mountPoint)
      logger.info({ mountPoint }, 'unmounted an overlay that no pod uses')
    } catch (error) {
      logger.error({ mountPoint, err: error }, 'cannot unmount an overlay that no pod uses')
    }
  }
}

/** The overlays below a directory that are mounted nowhere else. */
export function orphansOf(table: readonly Mount[], appMounts: string): readonly Mount[] {
  const isOurs = ({ mountPoint, type }: Mount) => type === 'overlay' && mountPoint.startsWith(`${appMounts}/`)
  const inUse = new Set(table.filter((mount) => !isOurs(mount)).map(({ device }) => device))
  return table.filter((mount) => isOurs(mount) && !inUse.has(mount.device))
}
