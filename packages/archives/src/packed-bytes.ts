/** Counts what was read of an archive, which is what its unpacked size is compared with. */

/** A count that grows while sources are read. */
export class PackedBytes {
  #bytes = 0

  /** Read so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** The same chunks, counted as they pass. */
  async *count(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#bytes += chunk.byteLength
      yield chunk
    }
  }
}
