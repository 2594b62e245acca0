/** Keeps a bounded part of what a process prints. */

/** The first bytes: a document is of use from its beginning, or not at all. */
export class OutputHead {
  readonly #maxBytes: number
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #isTruncated = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isTruncated(): boolean {
    return this.#isTruncated
  }

  add(chunk: Buffer): void {
    const room = this.#maxBytes - this.#bytes
    if (chunk.length > room) this.#isTruncated = true
    if (room <= 0) return
    const kept = chunk.subarray(0, room)
    this.#chunks.push(kept)
    this.#bytes += kept.length
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}

/** The last bytes: what a failing command says last is why. */
export class OutputTail {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    // Trimmed only at twice the size, so that a chatty process does not cost a copy per line.
    if (this.#bytes > 2 * this.#maxBytes) this.#trim()
  }

  text(): string {
    this.#trim()
    return Buffer.concat(this.#chunks).toString('utf8')
  }

  #trim(): void {
    const kept = Buffer.concat(this.#chunks).subarray(-this.#maxBytes)
    this.#chunks = [kept]
    this.#bytes = kept.length
  }
}
