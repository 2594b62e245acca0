/** Tells the driver which DynaKubes there are: it serves host agents of those that have a directory. */
import { mkdir } from 'node:fs/promises'
import type { Reconcile } from '@reeve/runtime/controller'
import { needsAppInjection, supportsReadOnlyHost } from '../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../api/latest.ts'
import type { DataPaths } from '../data-paths.ts'
import { removeEmptyDirectory } from '../remove-empty-directory.ts'

/** Whether a DynaKube has agents on nodes that need something from there. */
export const needsDirectory = (dynakube: DynaKube): boolean =>
  needsAppInjection(dynakube) || supportsReadOnlyHost(dynakube)

/** Makes the directory of a DynaKube. *Errors*: those of the file system. */
export async function makeDirectory(paths: DataPaths, dynakube: string): Promise<void> {
  await mkdir(paths.dynakube(dynakube), { recursive: true, mode: 0o755 })
}

/**
 * Makes directories of DynaKubes without waiting for agents that are being installed, which may take minutes. An empty one
 * is deleted with its DynaKube, the others by the clean-up.
 *
 * The clean-up may delete one that was made after it listed the DynaKubes. The reconcile that installs the agent makes it
 * again: it comes after the clean-up.
 */
export function keepDirectory(paths: DataPaths): Reconcile<DynaKube> {
  return async ({ object, key, logger }) => {
    if (object !== undefined && needsDirectory(object)) await makeDirectory(paths, key.name)
    else await removeEmptyDirectory(paths.dynakube(key.name), logger)
  }
}
