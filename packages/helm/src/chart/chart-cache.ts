/** Chart archives on disk, named by their content, within a size limit; and the last responses of sources. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, isRecord } from '@reeve/http'
import { digestOf } from '@reeve/oci'
import { DEFAULT_CACHE_BYTES } from '../defaults.ts'
import { ChartInvalidError } from '../errors.ts'
import { textAt } from '../json-shape.ts'

/** How many sources have their last response remembered. */
const MAX_ANSWERS = 1_000

/** A temporary file that is older than this was left behind by a crash. */
const ABANDONED_AFTER_MS = 3_600_000

/** What a source last said. */
export interface SourceAnswer {
  /** Of the archive. */
  readonly digest: string
}

/**
 * *Guarantees*: a file appears complete or not at all, so several processes may share a folder and any of them may crash.
 * Contents are checked against their name whenever they are read: a damaged file counts as absent. After every
 * `store` the archives take no more than `maxBytes`; those used least recently go first.
 *
 * *Caveats*: with several processes, one may remove what another is about to give to Helm, which then does not find the
 * chart and tries again later. Give it room for all charts in use.
 */
export class ChartCache {
  readonly #archives: string
  readonly #answers: string
  readonly #maxBytes: number

  constructor(folder: string, options: { readonly maxBytes?: number } = {}) {
    this.#archives = join(folder, 'archives')
    this.#answers = join(folder, 'answers')
    this.#maxBytes = options.maxBytes ?? DEFAULT_CACHE_BYTES
  }

  /** The path of the archive with that digest, and its bytes, if it is here and undamaged. */
  async find(digest: string): Promise<{ readonly path: string; readonly bytes: Buffer } | undefined> {
    const path = this.#pathOf(digest)
    const bytes = await readFile(path).catch(absent)
    if (bytes === undefined) return undefined
    if (digestOf(bytes) !== digest) {
      await rm(path, { force: true })
      return undefined
    }
    const now = new Date()
    // Another process may have removed it since; it was read, and is the next to be fetched again.
    await utimes(path, now, now).catch(absent)
    return { path, bytes }
  }

  /** Keeps an archive and returns its path. */
  async store(bytes: Uint8Array): Promise<string> {
    if (bytes.length > this.#maxBytes) {
      throw new ChartInvalidError(`a chart of ${bytes.length} bytes exceeds a cache of ${this.#maxBytes} bytes`)
    }
    const path = this.#pathOf(digestOf(bytes))
    await replaceFile(this.#archives, path, bytes)
    await this.#evict(path)
    return path
  }

  /** Stores the response of the source named `key`. */
  async remember(key: string, answer: SourceAnswer): Promise<void> {
    await replaceFile(this.#answers, this.#answerPath(key), JSON.stringify(answer))
    const known = await filesOf(this.#answers)
    for (const { path } of known.slice(0, Math.max(0, known.length - MAX_ANSWERS))) await rm(path, { force: true })
  }

  /** The last response of the source named `key`. */
  async recall(key: string): Promise<SourceAnswer | undefined> {
    const text = await readFile(this.#answerPath(key), 'utf8').catch(absent)
    if (text === undefined) return undefined
    try {
      const answer: unknown = JSON.parse(text)
      const digest = isRecord(answer) ? textAt(answer, 'digest') : undefined
      return digest === undefined || !/^sha256:[0-9a-f]{64}$/.test(digest) ? undefined : { digest }
    } catch {
      // A file that was truncated by a full disk counts as absent.
      return undefined
    }
  }

  async #evict(kept: string): Promise<void> {
    const files = await filesOf(this.#archives)
    let total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    for (const { path, sizeBytes } of files) {
      if (total <= this.#maxBytes) return
      if (path === kept) continue
      await rm(path, { force: true })
      total -= sizeBytes
    }
  }

  #pathOf(digest: string): string {
    return join(this.#archives, `${digest.replace('sha256:', '')}.tgz`)
  }

  #answerPath(key: string): string {
    return join(this.#answers, `${digestOf(Buffer.from(key)).replace('sha256:', '')}.json`)
  }
}

async function replaceFile(folder: string, path: string, content: Uint8Array | string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await writeFile(temporary, content, { flag: 'wx', mode: 0o600 })
    await rename(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
}

/** The complete files of a folder, those used least recently first. Removes what a crash left behind. */
async function filesOf(folder: string) {
  const files: { readonly path: string; readonly sizeBytes: number; readonly usedAt: number }[] = []
  for (const name of (await readdir(folder).catch(absent)) ?? []) {
    const path = join(folder, name)
    const found = await stat(path).catch(absent)
    if (found === undefined) continue
    if (!name.endsWith('.tmp')) files.push({ path, sizeBytes: found.size, usedAt: found.mtimeMs })
    else if (Date.now() - found.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true })
  }
  return files.sort((a, b) => a.usedAt - b.usedAt)
}

/** For files that may not exist: another process shares the folder. Everything else is passed on. */
function absent(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined
  throw error
}
