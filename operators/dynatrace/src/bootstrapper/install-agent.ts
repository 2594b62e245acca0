/** Fills the volume of a pod with a downloaded agent. */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { unpackZip } from '@reeve/archives'
import { INIT_MOUNTS } from '../injection-contract/paths.ts'
import { agentFileMode } from '../tenant/client/agent-file-mode.ts'
import { type AgentSelection, downloadAgent } from './agent-download.ts'
import { readClientConfig } from './client-config.ts'
import { linkNewestVersion } from './current-link.ts'
import type { Log } from './log.ts'

/** How long a download may take in all. */
const DOWNLOAD_TIMEOUT_MS = 15 * 60_000

/** Scratch names beside the files of the agent; what a killed process left of them is deleted first. */
const ARCHIVE = '.bootstrapper.zip'
const WORK = '.bootstrapper'

/** Part of every agent that was installed into a pod, and always empty. */
const BY_PRODUCT = 'codemodules'

/**
 * Downloads an agent and unpacks it into `target`.
 *
 * The volume of a pod is a mount point: it cannot be replaced by a rename, and what it contains may be a part of an
 * agent. It is therefore filled again by every run. Any other target appears as a whole, and one that exists is complete.
 *
 * *Guarantees*: files of the agent never appear half written. After an error the target is empty, or absent.
 *
 * *Errors*: `BOOTSTRAP_INPUT`, `BOOTSTRAP_DOWNLOAD`, `ArchiveError`, and those of the file system.
 */
export async function installAgent(
  target: string,
  inputDirectory: string,
  selection: AgentSelection,
  log: Log,
): Promise<void> {
  const isVolume = target === INIT_MOUNTS.bin
  if (!isVolume && (await exists(target))) {
    log.info({ target }, 'the agent is already installed')
    return
  }
  const folder = isVolume ? target : join(dirname(target), `.${basename(target)}.partial`)
  try {
    await mkdir(folder, { recursive: true })
    const config = readClientConfig(inputDirectory)
    const archive = join(folder, ARCHIVE)
    await downloadAgent(config, selection, archive, { log, signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) })
    await unpackInto(folder, archive)
    if (!isVolume) await rename(folder, target)
    log.info({ target, version: selection.version }, 'installed the agent')
  } catch (error) {
    await (isVolume ? empty(folder) : rm(folder, { recursive: true, force: true }))
    throw error
  }
}

/** Unpacks beside the final place, so that the agent appears with all of its files and its link. */
async function unpackInto(folder: string, archive: string): Promise<void> {
  const work = join(folder, WORK)
  await rm(work, { recursive: true, force: true })
  await mkdir(work)
  await unpackZip(archive, work, { fileMode: agentFileMode })
  await linkNewestVersion(work)
  await mkdir(join(work, BY_PRODUCT), { recursive: true, mode: 0o755 })
  for (const name of await readdir(work)) {
    await rm(join(folder, name), { recursive: true, force: true })
    await rename(join(work, name), join(folder, name))
  }
  await rm(work, { recursive: true })
  await rm(archive)
}

async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
