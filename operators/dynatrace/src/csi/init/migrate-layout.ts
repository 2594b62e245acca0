/**
 * Migrates the data directory of an earlier release to the current layout. Volumes of running pods stay where they are:
 * links at the new place lead to them, because later calls of the kubelet know only the id of a volume.
 */
import { mkdir, rm, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Logger } from '@reeve/runtime'
import { supportsReadOnlyHost } from '../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../api/latest.ts'
import type { DataPaths } from '../data-paths.ts'
import { legacyTenant } from '../legacy-tenant.ts'
import type { Mount } from '../mounts/mount-table.ts'

/** The umask of the process is 0. */
const OPEN_TO_ALL = 0o777

/** Where to work, and what is logged. */
export interface MigrationContext {
  readonly paths: DataPaths
  readonly logger: Logger
}

/**
 * Links overlays that are mounted elsewhere below the data directory, at `<old>/<volume>/mapped`. A volume that is
 * already at its new place is not changed, so it may be repeated.
 *
 * *Errors*: those of the file system.
 */
export async function migrateAppMounts(mounts: readonly Mount[], { paths, logger }: MigrationContext): Promise<void> {
  await mkdir(paths.appMounts, { recursive: true, mode: OPEN_TO_ALL })
  const isBelow = (path: string, folder: string) => path.startsWith(`${folder}/`)
  const old = mounts.filter(
    ({ type, mountPoint }) =>
      type === 'overlay' && isBelow(mountPoint, paths.root) && !isBelow(mountPoint, paths.appMounts),
  )
  for (const { mountPoint } of old) {
    // Not a volume, but something that an administrator mounted: what a link leads to is deleted with its volume.
    if (basename(mountPoint) !== 'mapped') continue
    const volume = dirname(mountPoint)
    const { root } = paths.appVolume(basename(volume))
    if (await exists(root)) continue
    await link(volume, root)
    logger.info({ from: volume, to: root }, 'linked a volume of an earlier release')
  }
}

/**
 * Links the storage of host agents, which was kept by tenant, for each of the DynaKubes that has one. Storage at the new
 * place is not changed.
 *
 * *Errors*: those of the file system.
 */
export async function migrateHostStorage(
  dynakubes: readonly DynaKube[],
  { paths, logger }: MigrationContext,
): Promise<void> {
  for (const dynakube of dynakubes.filter(supportsReadOnlyHost)) {
    const name = dynakube.metadata.name ?? ''
    await mkdir(paths.dynakube(name), { recursive: true, mode: OPEN_TO_ALL })
    const storage = paths.hostStorage(name)
    const tenant = legacyTenant(dynakube)
    if (tenant === undefined || (await exists(storage))) continue
    const old = join(paths.root, tenant, 'osagent')
    if (!(await exists(old))) continue
    await link(old, storage)
    logger.info({ from: old, to: storage }, 'linked the storage of a host agent of an earlier release')
  }
}

/** Replaces a link that leads nowhere. */
async function link(target: string, path: string): Promise<void> {
  await rm(path, { force: true })
  await symlink(target, path)
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
