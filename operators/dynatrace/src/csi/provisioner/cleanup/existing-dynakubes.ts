/** Which DynaKubes there are, as surely as it can be known before something of one is deleted. */
import { basename } from 'node:path'
import { isNotFound, type KubeClient, type Stored } from '@reeve/kube'
import { type DynaKube, DynaKubes } from '../../../api/latest.ts'
import type { DataPaths } from '../../data-paths.ts'
import { directoriesIn } from './remove-directory.ts'

/** Where to look. */
export interface ExistingDynaKubesOptions {
  readonly client: Pick<KubeClient, 'get' | 'listAll'>
  readonly namespace: string
  readonly paths: Pick<DataPaths, 'dynakubes'>
  readonly signal: AbortSignal
}

/**
 * The DynaKubes of a namespace. One that has a directory here but is not in the list is asked for by name: it may have been
 * created again since, and would lose an agent that its pods need at once.
 *
 * *Errors*: those of the API server and of the file system.
 *
 * @example
 * const dynakubes = await existingDynaKubes({ client, namespace: 'dynatrace', paths, signal })
 */
export async function existingDynaKubes(options: ExistingDynaKubesOptions): Promise<readonly Stored<DynaKube>[]> {
  const { client, namespace, paths, signal } = options
  const { items } = await client.listAll(DynaKubes, { namespace, signal })
  const listed = new Set(items.map(({ metadata }) => metadata.name))
  const found: Stored<DynaKube>[] = []
  for (const name of (await directoriesIn(paths.dynakubes)).map((directory) => basename(directory))) {
    if (listed.has(name)) continue
    const dynakube = await client.get(DynaKubes, { namespace, name }, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
    if (dynakube !== undefined) found.push(dynakube)
  }
  return [...items, ...found]
}
