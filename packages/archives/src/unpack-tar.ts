/** Unpacks an untrusted tar archive, such as a layer of an image. */
import { once } from 'node:events'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { ReadEntry } from 'tar'
import { ArchiveError, ArchiveInvalidError } from './archive-error.ts'
import { FolderWriter } from './folder-writer.ts'
import { PackedBytes } from './packed-bytes.ts'
import type { UnpackOptions } from './unpack-options.ts'

/** How a tar archive is packed. */
export type TarCompression = 'gzip' | 'none'

/** Larger headers are rejected: long names and attributes take a few kilobytes. */
const MAX_HEADER_BYTES = 256 * 1024

/**
 * Unpacks a stream into `folder`, which must be new and empty. Links that stay inside are made; links that would lead
 * outside, devices and pipes are left out and reported.
 *
 * *Guarantees* and *Errors*: as those of `unpackZip`.
 *
 * @example
 * await unpackTar(layer, 'gzip', '/data/tmp', { signal })
 */
export async function unpackTar(
  source: AsyncIterable<Uint8Array>,
  compression: TarCompression,
  folder: string,
  options: UnpackOptions = {},
): Promise<void> {
  const { Parser } = await import('tar')
  const packed = new PackedBytes()
  const writer = new FolderWriter(folder, options, { packedBytes: () => packed.bytes })
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => undefined) // raced against below; there is no other listener
  let unpacked = Promise.resolve()
  let current: ReadEntry | undefined
  let hasFailed = false
  const parser = new Parser({
    strict: true,
    maxMetaEntrySize: MAX_HEADER_BYTES,
    onReadEntry: (entry) => {
      unpacked = unpacked.then(() => {
        // An entry that comes after the failure may be cut off, too: nothing of it is of use.
        if (hasFailed) return
        current = entry
        return unpackEntry(entry, writer)
      })
      unpacked.catch(failure.reject)
    },
  })
  parser.on('error', failure.reject)
  try {
    const counted = packed.count(source)
    const content = compression === 'gzip' ? gunzipped(counted) : counted
    for await (const chunk of singlyPacked(content)) {
      options.signal?.throwIfAborted()
      if (!parsing(() => parser.write(chunk))) await Promise.race([once(parser, 'drain'), failure.promise])
    }
    const ended = Promise.race([once(parser, 'end'), failure.promise])
    ended.catch(() => undefined) // awaited below, unless ending the parser throws first
    parsing(() => parser.end())
    await ended
    await unpacked
    await writer.finish()
  } catch (error) {
    // An entry that is truncated would keep its file open forever.
    hasFailed = true
    current?.destroy()
    await unpacked.catch(() => undefined)
    options.signal?.throwIfAborted()
    throw asArchiveError(error)
  }
}

async function unpackEntry(entry: ReadEntry, writer: FolderWriter): Promise<void> {
  const { path, mode = 0, linkpath = '' } = entry
  switch (entry.type) {
    case 'File':
    case 'OldFile':
    case 'ContiguousFile':
      return writer.file(path, mode, contentOf(entry))
    case 'Directory':
    case 'GNUDumpDir':
      await writer.directory(path, mode)
      break
    case 'SymbolicLink':
      writer.symbolicLink(path, linkpath)
      break
    case 'Link':
      writer.hardLink(path, linkpath)
      break
    default:
      writer.specialFile(path)
  }
  entry.resume()
}

/** An entry that was destroyed before it is read would never end. */
async function* contentOf(entry: ReadEntry): AsyncGenerator<Uint8Array> {
  if (entry.destroyed) throw new ArchiveInvalidError('not a usable tar archive: an entry is cut off')
  yield* entry
}

function gunzipped(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: 64 * 1024 })
  // Destroys both when either ends early, so that the source is released; its error is emitted at the other end.
  return pipeline(Readable.from(source, { objectMode: false }), gunzip, () => undefined)
}

/** The parser would unpack a packed archive inside itself, without limits; such an archive is rejected. */
async function* singlyPacked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const chunk of source) {
    if (isFirst && ((chunk[0] === 0x1f && chunk[1] === 0x8b) || (chunk[0] === 0x28 && chunk[1] === 0xb5))) {
      throw new ArchiveInvalidError('not a usable tar archive: it is packed in another way than declared')
    }
    isFirst = false
    yield chunk
  }
}

/** Calls the parser. It throws plain errors, too, when the parts of an archive contradict each other. */
function parsing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new ArchiveInvalidError('not a usable tar archive: it contradicts itself', { cause: error })
  }
}

// The parser and zlib throw plain errors about the format. Errors of the file system and of the provider of the
// stream have their own class or system call and are rethrown unchanged.
function asArchiveError(error: unknown): unknown {
  if (error instanceof ArchiveError || !(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const isFormat = /^TAR_|^Z_|^ERR__?ZLIB|^ERR_BUFFER/.test(code) || 'tarCode' in error
  return isFormat ? new ArchiveInvalidError(`not a usable tar archive: ${error.message}`, { cause: error }) : error
}
