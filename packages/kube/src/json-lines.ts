/** Splits a stream of bytes into lines, whatever the sizes of the chunks. */

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
const NOTHING = Buffer.alloc(0)

/** Thrown when a line is longer than the reader accepts. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError'
}

/**
 * Collects chunks until a line is complete and returns each line as a whole, so that a character whose bytes
 * arrive in different chunks stays intact. A line may be a view of the chunk that it arrived in.
 *
 * @example
 * const splitter = new LineSplitter(1024)
 * for (const line of splitter.push(chunk)) console.log(line.toString('utf8'))
 */
export class LineSplitter {
  readonly #maxLineBytes: number
  #pending: Buffer[] = []
  #pendingBytes = 0

  /** Lines of more than `maxLineBytes` end the stream with {@link LineTooLongError}. */
  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes
  }

  /** The lines that `chunk` completes, without their newline. Empty lines are skipped. */
  *push(chunk: Uint8Array): Generator<Buffer, void, undefined> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const line = this.#complete(bytes.subarray(start, end))
      start = end + 1
      if (line.length > 0) yield line
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start))
  }

  /** What follows the last newline; empty when the stream ended with one. */
  rest(): Buffer {
    return this.#complete(NOTHING)
  }

  #complete(tail: Buffer): Buffer {
    this.#check(tail.length)
    const line = this.#pending.length === 0 ? tail : Buffer.concat([...this.#pending, tail])
    this.#pending = []
    this.#pendingBytes = 0
    return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line
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
