/** Gathers the small chunks of a stream, so that a file is written in a few large pieces. */

/** Chunks that belong together, and their size. */
export interface Batch {
  readonly chunks: readonly Uint8Array[]
  readonly bytes: number
}

/** Large enough that the file system is not the bottleneck, small enough not to matter. */
const BATCH_BYTES = 512 * 1024

/**
 * Batches of at least half a mebibyte, but for the last one. When the source fails, what came before is still given.
 *
 * @example
 * for await (const { chunks } of batches(response.body)) await file.writev(chunks)
 */
export async function* batches(source: AsyncIterable<Uint8Array>): AsyncGenerator<Batch> {
  let chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of source) {
      chunks.push(chunk)
      bytes += chunk.byteLength
      if (bytes < BATCH_BYTES) continue
      yield { chunks, bytes }
      chunks = []
      bytes = 0
    }
  } catch (error) {
    if (bytes > 0) yield { chunks, bytes }
    throw error
  }
  if (bytes > 0) yield { chunks, bytes }
}
