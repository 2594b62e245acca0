/** Makes the files of an agent appear on the node, complete or not at all. */
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { installFolder } from '@reeve/archives'
import { linkNewestVersion } from '../../../bootstrapper/current-link.ts'
import type { DataPaths } from '../../data-paths.ts'

/** Where an image, and an archive with full paths, has the agent. */
const AGENT_FOLDER = 'opt/dynatrace/oneagent'

/**
 * Lets `unpack` write into a scratch directory, links `agent/bin/current` and moves the agent to its place.
 *
 * *Guarantees*: an agent that exists is complete and left alone. A process that is killed leaves nothing but the scratch
 * directory, which the next installation replaces.
 *
 * *Errors*: those of `unpack` and of the file system; `BOOTSTRAP_INPUT` if the files are not those of an agent.
 */
export async function installFiles(
  paths: DataPaths,
  folder: string,
  unpack: (work: string) => Promise<void>,
): Promise<void> {
  const options = { target: paths.codeModule(folder), work: paths.unpacking, preferredSubfolder: AGENT_FOLDER }
  await installFolder(options, async (work) => {
    await unpack(work)
    await linkNewestVersion((await agentFolder(work)) ?? work)
  })
}

/** The folder with the agent below `work`; `undefined` if there is no agent. */
export async function agentFolder(work: string): Promise<string | undefined> {
  for (const folder of [join(work, AGENT_FOLDER), work]) if (await isDirectory(join(folder, 'agent/bin'))) return folder
  return undefined
}

/**
 * Deletes an agent. It is moved away first: one of which a part is deleted would count as installed after a crash.
 *
 * *Errors*: those of the file system.
 */
export async function discardFiles(paths: DataPaths, folder: string): Promise<void> {
  await rm(paths.unpacking, { recursive: true, force: true })
  await rename(paths.codeModule(folder), paths.unpacking)
  await rm(paths.unpacking, { recursive: true, force: true })
}

/** Whether a path leads to a directory. */
export async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  )
}
