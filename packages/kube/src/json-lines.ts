/** Splits a stream of bytes into lines, whatever the sizes of the chunks. */

const NEWLINE = 0x0a

/** Thrown when a line is longer than the reader accepts. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError'
}

/**
 * Collects chunks until a line is complete and decodes each line as a whole, so that a character whose bytes
 * arrive in different chunks stays intact.
 *
 * @example
 * const splitter = new LineSplitter(1024)
 * for (const line of splitter.push(chunk)) console.log(line)
 */
export class LineSplitter {
  readonly #maxLineBytes: number
  #pending: Buffer[] = []
  #pendingBytes = 0

  /** Lines of more than `maxLineBytes` end the stream with {@link LineTooLongError}. */
  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /** The lines that `chunk` completes, without their newline. Blank lines are skipped. */
  *push(chunk: Uint8Array): Generator<string, void, undefined> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const line = this.#complete(bytes.subarray(start, end))
      start = end + 1
      if (line !== '') yield line
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start))
  }

  /** The text after the last newline; empty when the stream ended with one. */
  rest(): string {
    return this.#complete(Buffer.alloc(0))
  }

  #complete(tail: Buffer): string {
    this.#check(tail.length)
    if (this.#pending.length === 0) return tail.toString('utf8').trim()
    const line = Buffer.concat([...this.#pending, tail])
      .toString('utf8')
      .trim()
    this.#pending = []
    this.#pendingBytes = 0
    return line
  }

  #keep(part: Buffer): void {
    this.#check(part.length)
    this.#pending.push(part)
    this.#pendingBytes += part.length
  }

  #check(moreBytes: number): void {
    if (this.#pendingBytes + moreBytes > this.#maxLineBytes) {
      throw new LineTooLongError(`a line exceeds ${this.#maxLineBytes} bytes`)
    }
  }
}
