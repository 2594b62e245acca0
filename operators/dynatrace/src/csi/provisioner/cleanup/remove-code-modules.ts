/** Deletes agents that neither a DynaKube nor a running pod uses. */
import { mkdir, readdir, readlink, rename, rm, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { sleep } from '@reeve/http'
import { needsAppInjection } from '../../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../../api/latest.ts'
import type { Mount } from '../../mounts/mount-table.ts'
import { isMissing } from '../../server/file-errors.ts'
import { codeModuleOf } from '../code-module.ts'
import type { CleanupContext } from './cleanup-context.ts'
import { directoriesIn, removeDirectory } from './remove-directory.ts'

/** How long a mount may take that had begun before its agent was moved away. */
const MOUNTING_MS = 1_000

/**
 * Removes links of DynaKubes that no longer need an agent, then deletes the agents that are left over; returns how many.
 *
 * A volume may be mounted just now, over an agent that was the latest a moment ago. Agents are therefore first moved away,
 * after which they cannot be mounted any more, and deleted only if no mount shows them then.
 *
 * *Errors*: those of the file system and of the table of mounts; nothing that is in use is deleted then.
 */
export async function removeCodeModules(dynakubes: readonly DynaKube[], context: CleanupContext): Promise<number> {
  const { paths, clock, signal, logger } = context
  await removeLatestLinks(dynakubes, context)
  const wanted = await wantedFolders(dynakubes, context)
  const usedBefore = usedFolders(await context.readMounts(), paths.codeModules)
  const unused = ((await entriesIn(paths.codeModules)) ?? []).filter(
    (name) => name !== basename(paths.unusedCodeModules) && !wanted.has(name) && !usedBefore.has(name),
  )
  if (unused.length > 0) {
    await mkdir(paths.unusedCodeModules, { recursive: true, mode: 0o700 })
    for (const name of unused) await rename(paths.codeModule(name), join(paths.unusedCodeModules, name))
  }
  // Also those that a killed process had moved, and the empty folder that it left.
  const leaving = await entriesIn(paths.unusedCodeModules)
  if (leaving === undefined) return 0
  if (leaving.length > 0) await sleep(MOUNTING_MS, { clock, signal })
  const used = usedFolders(await context.readMounts(), paths.codeModules)
  let deleted = 0
  for (const name of leaving) {
    const path = join(paths.unusedCodeModules, name)
    if (used.has(name)) await rename(path, paths.codeModule(name))
    else {
      await rm(path, { recursive: true, force: true })
      deleted++
      logger.info({ codeModule: name }, 'deleted an agent that nothing uses')
    }
  }
  await rmdir(paths.unusedCodeModules).catch(() => undefined)
  return deleted
}

/** Deletes directories of DynaKubes that are gone, once nothing is in them but links to volumes. */
export async function removeDynaKubeDirectories(
  dynakubes: readonly DynaKube[],
  context: CleanupContext & { readonly mounts: readonly Mount[] },
): Promise<void> {
  const { paths } = context
  const existing = new Set(dynakubes.map(({ metadata }) => metadata.name))
  for (const directory of await directoriesIn(paths.dynakubes)) {
    if (existing.has(basename(directory))) continue
    const names = await readdir(directory)
    if (names.every((name) => name === 'appmounts')) {
      await removeDirectory(directory, 'the directory of a DynaKube', context)
    }
  }
}

async function removeLatestLinks(dynakubes: readonly DynaKube[], { paths }: CleanupContext): Promise<void> {
  const kept = new Set(dynakubes.filter(needsAppInjection).map(({ metadata }) => metadata.name))
  for (const directory of await directoriesIn(paths.dynakubes)) {
    if (kept.has(basename(directory))) continue
    const link = paths.latestCodeModule(basename(directory))
    for (const path of [link, `${link}.next`]) await rm(path, { force: true })
  }
}

/** What new pods get, and what is about to be installed for them: a Job may have just finished. */
async function wantedFolders(
  dynakubes: readonly DynaKube[],
  { paths, hasCsiDriver, logger }: CleanupContext,
): Promise<ReadonlySet<string>> {
  const wanted = new Set<string>()
  for (const dynakube of dynakubes.filter(needsAppInjection)) {
    const latest = await readlink(paths.latestCodeModule(dynakube.metadata.name ?? '')).catch(() => undefined)
    if (latest !== undefined) wanted.add(basename(latest))
    try {
      const module = codeModuleOf(dynakube, hasCsiDriver)
      if (module) wanted.add(module.folder)
    } catch (error) {
      logger.debug({ dynakube: dynakube.metadata.name, err: error }, 'no agent can be installed for a DynaKube')
    }
  }
  return wanted
}

/** The agents below the overlays of volumes, by the path with which they were mounted. */
function usedFolders(mounts: readonly Mount[], codeModules: string): ReadonlySet<string> {
  const lower = mounts.filter(({ type }) => type === 'overlay').flatMap(({ options }) => options.lowerdir ?? [])
  return new Set(lower.filter((path) => path.startsWith(`${codeModules}/`)).map((path) => basename(path)))
}

/** The names in a directory; `undefined` if there is none. */
async function entriesIn(path: string): Promise<readonly string[] | undefined> {
  return readdir(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
}
