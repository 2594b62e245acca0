/** Tells the driver which DynaKubes there are: it serves host agents of those that have a directory. */
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { isNotFound, type Stored } from '@reeve/kube'
import type { Reconcile, ReconcileRequest } from '@reeve/runtime/controller'
import { needsAppInjection, supportsReadOnlyHost } from '../../api/dynakube/one-agent-facts.ts'
import { type DynaKube, DynaKubes } from '../../api/latest.ts'
import type { DataPaths } from '../data-paths.ts'
import { removeEmptyDirectory } from '../remove-empty-directory.ts'

/** Whether a DynaKube has agents on nodes that need something from there. */
export const needsDirectory = (dynakube: DynaKube): boolean =>
  needsAppInjection(dynakube) || supportsReadOnlyHost(dynakube)

/**
 * The DynaKube as it is now. The cache may be behind: a version that nobody wants anymore would be downloaded, or a Job or
 * a directory created that was just deleted.
 */
export async function currentDynaKube({
  client,
  key,
  signal,
}: Pick<ReconcileRequest<DynaKube>, 'client' | 'key' | 'signal'>): Promise<Stored<DynaKube> | undefined> {
  try {
    return await client.get(DynaKubes, key, { signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

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
  return async (request) => {
    const { object, key, logger } = request
    const path = paths.dynakube(key.name)
    if (object === undefined || !needsDirectory(object)) await removeEmptyDirectory(path, logger)
    else if (!existsSync(path) && (await exists(request))) await makeDirectory(paths, key.name)
  }
}

/** Whether a DynaKube exists now. A list, because the controller that installs its agent gets it at the same moment. */
async function exists({ client, key, signal }: ReconcileRequest<DynaKube>): Promise<boolean> {
  const { namespace = '', name } = key
  const { items } = await client.list(DynaKubes, { namespace, fieldSelector: `metadata.name=${name}`, signal })
  return items.length > 0
}
