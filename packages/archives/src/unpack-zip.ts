/** Unpacks a ZIP that nobody trusts. */
import { crc32 } from 'node:zlib'
import type { Entry, ZipFile } from 'yauzl'
import { ArchiveError, ArchiveInvalidError, shownName } from './archive-error.ts'
import { FolderWriter } from './folder-writer.ts'
import type { UnpackOptions } from './unpack-options.ts'

const TYPE_BITS = 0o170000
/** Types of Unix files that a ZIP may name and that are no files to write: pipes, devices, sockets. */
const SPECIAL_TYPES: ReadonlySet<number> = new Set([0o010000, 0o020000, 0o060000, 0o140000])

/**
 * Unpacks `file` into `folder`, which must be new and empty. Symbolic links come out as files with their target as
 * content: agents have none.
 *
 * *Guarantees*: those of {@link FolderWriter}; sizes and checksums are verified; memory does not grow with the archive.
 *
 * *Errors*: `ArchiveError` by its `code`, errors of the file system, the reason of the signal. What was unpacked until
 * then stays, so unpack into a temporary folder.
 *
 * @example
 * await unpackZip('/data/download', '/data/tmp', { fileMode: agentFileMode, signal })
 */
export async function unpackZip(file: string, folder: string, options: UnpackOptions = {}): Promise<void> {
  const { openPromise } = await import('yauzl')
  // Names are checked by us: the library's own check knows fewer ways to do harm, and its errors have no code.
  const zip = await openPromise(file, { autoClose: false, decodeStrings: false, validateEntrySizes: true }).catch(
    (error: unknown) => {
      throw asArchiveError(error)
    },
  )
  try {
    const writer = new FolderWriter(folder, options, true)
    for await (const entry of zip.eachEntry()) {
      await unpackEntry(zip, entry, writer)
      writer.checkRatio(zip.fileSize)
    }
    await writer.finish()
  } catch (error) {
    options.signal?.throwIfAborted()
    throw asArchiveError(error)
  } finally {
    zip.close()
  }
}

async function unpackEntry(zip: ZipFile, entry: Entry, writer: FolderWriter): Promise<void> {
  const name = decodeName(entry.fileNameRaw)
  const mode = entry.externalFileAttributes >>> 16
  if (name.endsWith('/')) return writer.directory(name, mode)
  if (SPECIAL_TYPES.has(mode & TYPE_BITS)) return writer.specialFile(name)
  if (entry.isEncrypted()) throw new ArchiveInvalidError(`the entry ${shownName(name)} is encrypted`)
  await writer.file(name, mode, verified(name, entry.crc32, await zip.openReadStreamPromise(entry)))
}

async function* verified(
  name: string,
  expected: number,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let checksum = 0
  for await (const chunk of content) {
    checksum = crc32(chunk, checksum)
    yield chunk
  }
  if (checksum !== expected) throw new ArchiveInvalidError(`the checksum of ${shownName(name)} does not fit`)
}

function decodeName(raw: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw)
  } catch {
    throw new ArchiveInvalidError('the archive has a name that is not UTF-8')
  }
}

// The library throws plain errors about the format; errors of the file system have a code and stay what they are.
function asArchiveError(error: unknown): unknown {
  if (error instanceof ArchiveError || !(error instanceof Error)) return error
  const isSystemError = 'syscall' in error
  return isSystemError ? error : new ArchiveInvalidError(`not a usable ZIP: ${error.message}`, { cause: error })
}
