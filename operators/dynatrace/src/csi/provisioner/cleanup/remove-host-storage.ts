/** Deletes the storage of host agents whose DynaKube is gone. */
import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { supportsReadOnlyHost } from '../../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { legacyTenant } from '../../legacy-tenant.ts'
import { isBoundElsewhere, type Mount } from '../../mounts/mount-table.ts'
import type { CleanupContext } from './cleanup-context.ts'
import { directoriesIn, removeDirectory } from './remove-directory.ts'

type HostContext = Pick<CleanupContext, 'paths' | 'logger'> & { readonly mounts: readonly Mount[] }

/**
 * Deletes storage that no DynaKube has and that is not mounted, at its present place and at that of earlier releases.
 *
 * @param legacy storage of earlier releases
 */
export async function removeHostStorage(
  dynakubes: readonly DynaKube[],
  legacy: readonly string[],
  context: HostContext,
): Promise<void> {
  const { paths, mounts } = context
  const kept = new Set(
    dynakubes.filter(supportsReadOnlyHost).flatMap((dynakube) => {
      const tenant = legacyTenant(dynakube)
      const old = tenant === undefined ? [] : [join(paths.root, tenant, 'osagent')]
      return [paths.hostStorage(dynakube.metadata.name ?? ''), ...old]
    }),
  )
  const present = (await directoriesIn(paths.dynakubes)).map((directory) => join(directory, 'osagent'))
  for (const storage of [...present, ...legacy]) {
    if (kept.has(storage) || isBoundElsewhere(storage, mounts)) continue
    const status = await lstat(storage).catch(() => undefined)
    // To storage of an earlier release, which is in `legacy`.
    if (status?.isSymbolicLink()) await rm(storage, { force: true })
    else if (status?.isDirectory()) await removeDirectory(storage, 'the storage of a host agent', context)
  }
}
