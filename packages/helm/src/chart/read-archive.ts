/** Unpacks chart archives as streams, within one budget for an archive and all archives in it. Archives are not trusted. */
import { createGunzip } from 'node:zlib'
import { Parser, type ReadEntry } from 'tar'
import { DEFAULT_MAX_CHART_FILES, DEFAULT_MAX_UNPACKED_BYTES } from '../defaults.ts'
import { ChartInvalidError } from '../errors.ts'

/** What may still be unpacked; reading an archive takes from it. */
export interface ArchiveBudget {
  bytes: number
  files: number
  /** What it began with, for messages. */
  readonly limits: { readonly bytes: number; readonly files: number }
}

/** A budget for a chart with everything in it. */
export function archiveBudget(bytes = DEFAULT_MAX_UNPACKED_BYTES, files = DEFAULT_MAX_CHART_FILES): ArchiveBudget {
  return { bytes, files, limits: { bytes, files } }
}

/** How an archive is read. */
export interface ReadArchiveOptions {
  /** Names it in errors. */
  readonly what: string
  readonly budget: ArchiveBudget
  /** Called with each entry, which it may listen to; it is read anyway. Returns what is wrong with it. */
  readonly onEntry: (entry: ReadEntry) => string | undefined
  readonly signal?: AbortSignal | undefined
}

/** How gzip and zstd begin. */
const PACKED_MAGIC = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])]

const CHUNK_BYTES = 64 * 1024

/**
 * Visits the entries of a gzipped tar archive. Only what `onEntry` keeps stays in memory, and others get their turn.
 *
 * *Errors*: `ChartInvalidError` for what is no such archive or exceeds the budget; the reason of the signal.
 */
export async function readArchive(bytes: Uint8Array, options: ReadArchiveOptions): Promise<void> {
  const { what, budget, onEntry, signal } = options
  const problems: string[] = []
  const parser = new Parser({
    // The parser tolerates these; archives that Helm packs never cause them.
    onwarn: (_code, message) => problems.push(`is not a valid tar archive (${message})`),
    onReadEntry(entry) {
      if (--budget.files < 0) problems.push(`has more than ${budget.limits.files} files`)
      const problem = problems.length === 0 ? onEntry(entry) : undefined
      if (problem !== undefined) problems.push(problem)
      entry.resume()
    },
  })
  const stop = () => {
    if (problems[0] !== undefined) throw new ChartInvalidError(`${what} ${problems[0]}`)
  }
  let isFirst = true
  for await (const chunk of unpacked(bytes, what)) {
    signal?.throwIfAborted()
    budget.bytes -= chunk.length
    if (budget.bytes < 0) throw new ChartInvalidError(`${what} unpacks to more than ${budget.limits.bytes} bytes`)
    // The parser would unpack a doubly packed archive again, without a limit.
    if (isFirst && PACKED_MAGIC.some((magic) => chunk.subarray(0, magic.length).equals(magic))) {
      throw new ChartInvalidError(`${what} is packed twice`)
    }
    isFirst = false
    parser.write(chunk)
    stop()
  }
  if (isFirst) throw new ChartInvalidError(`${what} is not a gzipped archive`)
  parser.end()
  stop()
}

async function* unpacked(bytes: Uint8Array, what: string): AsyncGenerator<Buffer> {
  try {
    const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
    gunzip.end(bytes)
    yield* gunzip
  } catch (error) {
    if (error instanceof ChartInvalidError) throw error
    throw new ChartInvalidError(`${what} is not a gzipped archive`, { cause: error })
  }
}
