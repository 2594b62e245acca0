/** Writes ZIP archives that can be read from any position without being stored anywhere. */
import { crc32, deflateRawSync } from 'node:zlib'
import type { ByteSource } from '../http/response.ts'
import { bytesOf } from './deterministic-bytes.ts'

/** A file or, with a name that ends in `/`, a folder. */
export interface ArchiveEntry {
  readonly path: string
  /** Permission bits. */
  readonly mode: number
  readonly content: ByteSource
  /** Small files are compressed in memory; the others are stored. */
  readonly checksum: number
}

/** Compressing more than this in memory is not worth it. */
const COMPRESS_BELOW_BYTES = 64 * 1024

const SIGNATURE = { file: 0x04034b50, directory: 0x02014b50, end: 0x06054b50 } as const
const METHOD = { stored: 0, deflated: 8 } as const
const VERSION_NEEDED = 20
/** "Made by" a Unix system, so that readers take the permissions from the attributes. */
const VERSION_MADE_BY = (3 << 8) | VERSION_NEEDED
/** Names are UTF-8. */
const FLAGS = 1 << 11
/** 1 January 2025, so that the same agent is the same archive whenever it is made. */
const DATE = ((2025 - 1980) << 9) | (1 << 5) | 1
const TYPE = { file: 0o100000, folder: 0o040000 } as const

/** The checksum of bytes that are generated while they are read. Yields in between. */
export async function checksumOf(content: ByteSource, onBytes?: (chunk: Buffer) => void): Promise<number> {
  let checksum = 0
  let sinceYield = 0
  for await (const chunk of content.read(0, content.sizeBytes)) {
    checksum = crc32(chunk, checksum)
    onBytes?.(chunk)
    sinceYield += chunk.length
    if (sinceYield < 8 * 1024 * 1024) continue
    sinceYield = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  return checksum
}

/** The archive of some entries, in their order: folders have to come before what is in them. */
export function zipArchive(entries: readonly ArchiveEntry[]): ByteSource {
  const parts: ByteSource[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const packed = pack(entry)
    directory.push(directoryRecord(entry, packed, offset))
    const header = fileHeader(entry, packed)
    parts.push(bytesOf(header), packed.bytes)
    offset += header.length + packed.bytes.sizeBytes
  }
  const directoryBytes = Buffer.concat(directory)
  parts.push(bytesOf(directoryBytes), bytesOf(endRecord(entries.length, directoryBytes.length, offset)))
  return concatenated(parts)
}

interface Packed {
  readonly bytes: ByteSource
  readonly method: number
}

function pack({ content }: ArchiveEntry): Packed {
  if (content.sizeBytes === 0 || content.sizeBytes > COMPRESS_BELOW_BYTES)
    return { bytes: content, method: METHOD.stored }
  const chunks = content.read(0, content.sizeBytes)
  if (!(Symbol.iterator in chunks)) return { bytes: content, method: METHOD.stored }
  const deflated = deflateRawSync(Buffer.concat([...chunks]))
  const isSmaller = deflated.length < content.sizeBytes
  return isSmaller ? { bytes: bytesOf(deflated), method: METHOD.deflated } : { bytes: content, method: METHOD.stored }
}

function fileHeader({ path, content, checksum }: ArchiveEntry, { bytes, method }: Packed): Buffer {
  const name = Buffer.from(path)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(SIGNATURE.file, 0)
  header.writeUInt16LE(VERSION_NEEDED, 4)
  header.writeUInt16LE(FLAGS, 6)
  header.writeUInt16LE(method, 8)
  header.writeUInt16LE(DATE, 12)
  header.writeUInt32LE(checksum, 14)
  header.writeUInt32LE(bytes.sizeBytes, 18)
  header.writeUInt32LE(content.sizeBytes, 22)
  header.writeUInt16LE(name.length, 26)
  return Buffer.concat([header, name])
}

function directoryRecord({ path, mode, content, checksum }: ArchiveEntry, packed: Packed, offset: number): Buffer {
  const name = Buffer.from(path)
  const record = Buffer.alloc(46)
  const type = path.endsWith('/') ? TYPE.folder : TYPE.file
  record.writeUInt32LE(SIGNATURE.directory, 0)
  record.writeUInt16LE(VERSION_MADE_BY, 4)
  record.writeUInt16LE(VERSION_NEEDED, 6)
  record.writeUInt16LE(FLAGS, 8)
  record.writeUInt16LE(packed.method, 10)
  record.writeUInt16LE(DATE, 14)
  record.writeUInt32LE(checksum, 16)
  record.writeUInt32LE(packed.bytes.sizeBytes, 20)
  record.writeUInt32LE(content.sizeBytes, 24)
  record.writeUInt16LE(name.length, 28)
  record.writeUInt32LE(((type | mode) << 16) >>> 0, 38)
  record.writeUInt32LE(offset, 42)
  return Buffer.concat([record, name])
}

function endRecord(count: number, sizeBytes: number, offset: number): Buffer {
  const record = Buffer.alloc(22)
  record.writeUInt32LE(SIGNATURE.end, 0)
  record.writeUInt16LE(count, 8)
  record.writeUInt16LE(count, 10)
  record.writeUInt32LE(sizeBytes, 12)
  record.writeUInt32LE(offset, 16)
  return record
}

function concatenated(parts: readonly ByteSource[]): ByteSource {
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0)
  async function* read(start: number, end: number): AsyncGenerator<Buffer> {
    let offset = 0
    for (const part of parts) {
      const from = Math.max(start - offset, 0)
      const to = Math.min(end - offset, part.sizeBytes)
      if (from < to) yield* part.read(from, to)
      offset += part.sizeBytes
      if (offset >= end) return
    }
  }
  return { sizeBytes, read }
}
