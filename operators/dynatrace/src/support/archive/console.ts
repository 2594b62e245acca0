/** The progress of an archive: on standard error while it is written, and at its end as a file in it. */

const PREFIX = '[support-archive]'
/** Later lines only go to standard error. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/** Notes what is collected and what fails. */
export class ArchiveConsole {
  readonly #write: (line: string) => void
  readonly #redact: () => (text: string) => string
  readonly #lines: string[] = []
  #bytes = 0
  #failures = 0

  constructor(write: (line: string) => void, redact: () => (text: string) => string) {
    this.#write = write
    this.#redact = redact
  }

  /** How many parts could not be collected. */
  get failures(): number {
    return this.#failures
  }

  /** What was noted, as a file. */
  get lines(): readonly string[] {
    return this.#lines
  }

  note(message: string): void {
    const line = `${PREFIX}\t${this.#redact()(message)}\n`
    this.#write(line)
    this.#bytes += line.length
    if (this.#bytes <= MAX_KEPT_BYTES) this.#lines.push(line)
  }

  /** A part is missing in the archive. */
  failed(what: string, error: unknown): void {
    this.#failures += 1
    this.note(`${what} is not in the archive: ${messageOf(error)}`)
  }

  /** The beginning of a part is in the archive, the rest is missing. */
  cutOff(what: string, error: unknown): void {
    this.#failures += 1
    this.note(`${what} ends early: ${messageOf(error)}`)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
