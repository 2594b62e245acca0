/** Frees the memory of used chunks immediately. */

/**
 * Frees the memory of chunks that are no longer read.
 *
 * Every read from a socket or a decompressor allocates a buffer. They are garbage as soon as they are written,
 * but V8 lets some 50 MB of such garbage pile up before it collects, and the allocator keeps what it has allocated. For a
 * download that is meant to need a few megabytes this is most of its memory.
 *
 * *Assumption*: the caller is the last reader. A chunk that shares its memory with others, as small ones do, is left to
 * the collector.
 *
 * @example
 * await file.writev(chunks)
 * releaseMemory(chunks)
 */
export function releaseMemory(chunks: readonly Uint8Array[]): void {
  for (const { buffer, byteLength } of chunks) {
    if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0)
  }
}
