/** Unpacks an untrusted ZIP. */
import { pipeline, Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import type { Entry, ZipFile } from 'yauzl'
import { ArchiveError, ArchiveInvalidError, shownName } from './archive-error.ts'
import { FolderWriter } from './folder-writer.ts'
import { PackedBytes } from './packed-bytes.ts'
import type { UnpackOptions } from './unpack-options.ts'

const TYPE_BITS = 0o170000
/** Methods of compression. */
const STORED = 0
const DEFLATED = 8
/** Types of Unix files that are skipped: pipes, devices, sockets. */
const SPECIAL_TYPES: ReadonlySet<number> = new Set([0o010000, 0o020000, 0o060000, 0o140000])

/**
 * Unpacks `file` into `folder`, which must be new and empty. Symbolic links become files with their target as
 * content.
 *
 * *Guarantees*: those of {@link FolderWriter}; sizes and checksums are verified; memory does not grow with the archive.
 *
 * *Errors*: `ArchiveError` by its `code`, errors of the file system, the reason of the signal. What was unpacked until
 * then stays, so unpack into a temporary folder.
 *
 * @example
 * await unpackZip('/data/download', '/data/tmp', { signal })
 */
export async function unpackZip(file: string, folder: string, options: UnpackOptions = {}): Promise<void> {
  const { default: yauzl } = await import('yauzl')
  // Names are checked by us: the library's own check covers fewer attacks, and its errors have no code.
  const zip = await yauzl
    .openPromise(file, { autoClose: false, decodeStrings: false, validateEntrySizes: true })
    .catch((error: unknown) => {
      throw asArchiveError(error)
    })
  try {
    const packed = new PackedBytes()
    // Entries that overlap are read more than once; the archive does not become larger by that.
    const packedBytes = () => Math.min(packed.bytes, zip.fileSize)
    const writer = new FolderWriter(folder, options, { packedBytes, ownsChunks: true })
    for await (const entry of zip.eachEntry()) await unpackEntry(zip, entry, writer, packed)
    await writer.finish()
  } catch (error) {
    options.signal?.throwIfAborted()
    throw asArchiveError(error)
  } finally {
    zip.close()
  }
}

async function unpackEntry(zip: ZipFile, entry: Entry, writer: FolderWriter, packed: PackedBytes): Promise<void> {
  const name = decodeName(entry.fileNameRaw)
  const mode = entry.externalFileAttributes >>> 16
  if (name.endsWith('/')) return writer.directory(name, mode)
  if (SPECIAL_TYPES.has(mode & TYPE_BITS)) return writer.specialFile(name)
  if (entry.isEncrypted()) throw new ArchiveInvalidError(`the entry ${shownName(name)} is encrypted`)
  const { compressionMethod } = entry
  if (compressionMethod !== STORED && compressionMethod !== DEFLATED) {
    throw new ArchiveInvalidError(`the entry ${shownName(name)} is packed by method ${compressionMethod}; use deflate`)
  }
  await writer.file(name, mode, verified(name, entry, contentOf(zip, entry, packed)))
}

/**
 * The content of an entry. Nothing is opened before the first read: the writer may reject the entry, and the error of a
 * stream without a reader would end the process.
 */
async function* contentOf(zip: ZipFile, entry: Entry, packed: PackedBytes): AsyncGenerator<Uint8Array> {
  // Inflated by us, so that compressed and uncompressed bytes are counted.
  const raw = packed.count(await zip.openReadStreamPromise(entry, { decodeFileData: false }))
  if (entry.compressionMethod === STORED) yield* raw
  // Destroys both when either ends early; an error of the source is emitted at the other end.
  else yield* pipeline(Readable.from(raw, { objectMode: false }), createInflateRaw(), () => undefined)
}

async function* verified(
  name: string,
  expected: Entry,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const mismatch = (what: string) => new ArchiveInvalidError(`the ${what} of ${shownName(name)} does not match`)
  let checksum = 0
  let bytes = 0
  for await (const chunk of content) {
    checksum = crc32(chunk, checksum)
    bytes += chunk.byteLength
    if (bytes > expected.uncompressedSize) throw mismatch('size')
    yield chunk
  }
  if (bytes !== expected.uncompressedSize) throw mismatch('size')
  if (checksum !== expected.crc32) throw mismatch('checksum')
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
