/** Layers: folders as archives that are the same, byte for byte, whenever and wherever they are made. */
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { create } from 'tar'

/** One layer of an image. */
export interface Layer {
  /** Compressed, as a registry stores it. */
  readonly blob: Buffer
  /** Digest of the archive before compression, which the configuration of an image lists. */
  readonly diffId: string
}

/** The digest of some content in the form of OCI. */
export function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

/**
 * Archives a folder: entries in the order of their names, without owners, with one time.
 *
 * @param modifiedAt seconds since 1970 that every entry bears
 */
export async function createLayer(folder: string, modifiedAt: number): Promise<Layer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).toSorted()
  const stream = create({ cwd: folder, portable: true, noDirRecurse: true, mtime: new Date(modifiedAt * 1000) }, paths)
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  const archive = Buffer.concat(chunks)
  return { blob: gzipSync(archive), diffId: digestOf(archive) }
}
