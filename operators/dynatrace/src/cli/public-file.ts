/** Writes files that every user of a machine may read. */
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

const FOLDER_MODE = 0o755
const FILE_MODE = 0o644

/**
 * Writes a file with mode 0644, and the folders it needs with 0755 regardless of the umask. Existing folders are not changed.
 *
 * *Guarantees*: readers see the old content or the new one, never a part; after a failure nothing is left beside it.
 *
 * @example
 * await writePublicFile('/var/lib/dynatrace/enrichment/dt_node_metadata.properties', 'k8s.node.name=a\n')
 */
export async function writePublicFile(path: string, content: string): Promise<void> {
  await makeFolders(dirname(resolve(path)))
  const draft = `${path}.${randomUUID()}`
  try {
    await writeFile(draft, content, { flag: 'wx' })
    await chmod(draft, FILE_MODE)
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

async function makeFolders(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true })
  // Nothing was missing.
  if (first === undefined) return
  for (let made = folder; made.length >= first.length; made = dirname(made)) await chmod(made, FOLDER_MODE)
}
