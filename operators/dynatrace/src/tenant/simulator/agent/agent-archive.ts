/** Creates the ZIP of an agent, and caches the latest ones. */
import { createHash } from 'node:crypto'
import { BoundedMap } from '../../../bounded-map.ts'
import type { ByteSource } from '../http/response.ts'
import { type AgentDescription, type AgentFile, agentFiles, agentManifest, md5Of } from './agent-files.ts'
import { type ArchiveEntry, checksumOf, zipArchive } from './zip-archive.ts'

/** A ZIP that is made while it is read. */
export interface AgentArchive {
  readonly source: ByteSource
  /** The same for the same agent, in quotes. */
  readonly etag: string
}

/** How many archives are cached: only their headers and small files, a few kilobytes each. */
const MAX_ARCHIVES = 64

/** Archives by what is in them. The first download of a large one has to wait for its checksums. */
export class AgentArchives {
  readonly #archives = new BoundedMap<string, Promise<AgentArchive>>(MAX_ARCHIVES)

  get(agent: AgentDescription): Promise<AgentArchive> {
    const key = createHash('sha256').update(JSON.stringify(agent)).digest('hex')
    const known = this.#archives.get(key)
    if (known !== undefined) return known
    const archive = makeArchive(agent, `"${key.slice(0, 32)}"`)
    this.#archives.set(key, archive)
    return archive
  }
}

async function makeArchive(agent: AgentDescription, etag: string): Promise<AgentArchive> {
  const digests = new Map<string, string>()
  const entries: ArchiveEntry[] = []
  const add = async ({ path, mode, content }: AgentFile) => {
    const md5 = md5Of()
    entries.push({ path, mode, content, checksum: await checksumOf(content, md5.add) })
    digests.set(path, md5.digest())
  }
  for (const each of agentFiles(agent)) await add(each)
  await add(agentManifest(agent, (path) => digests.get(path) ?? ''))
  return { source: zipArchive(entries), etag }
}
