/** Writes of one iteration of the event loop as one: a system call, and a wake-up of whoever reads, for each line is slow. */

/** More than this is not kept back: it bounds memory, and what is lost when the process is killed. */
const MAX_LENGTH = 64 * 1024

/**
 * Collects text until the current iteration of the event loop ends.
 *
 * *Guarantees*: order is kept; after {@link BatchedText.flush} nothing is kept back. *Caveat*: what was written in the
 * iteration in which a process is killed by SIGKILL is lost.
 *
 * @example
 * const lines = new BatchedText((text) => process.stderr.write(text))
 * process.on('exit', () => lines.flush())
 */
export class BatchedText {
  readonly #write: (text: string) => void
  #text = ''

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  write(text: string): void {
    if (this.#text === '') setImmediate(() => this.flush())
    this.#text += text
    if (this.#text.length >= MAX_LENGTH) this.flush()
  }

  /** Writes what is kept back now. */
  flush(): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    this.#write(text)
  }
}
