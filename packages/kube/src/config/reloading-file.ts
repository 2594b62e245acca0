/** Reads a small file repeatedly, because mounted tokens and certificates are replaced while the process runs. */
import { readFile } from 'node:fs/promises'
import { type Clock, codeOf, type TextSource } from '@reeve/http'
import { CredentialsError } from '../errors.ts'

/** Options of {@link ReloadingFile}. */
export interface ReloadingFileOptions {
  readonly clock: Clock
  /** Newer content is served from memory. */
  readonly maxAgeMs: number
  /** The content of the file, for messages: `bearer token`. */
  readonly what: string
  /** Called when a file that was readable before no longer is. */
  readonly onProblem?: (error: Error) => void
}

/**
 * A file that is read at most once per `maxAgeMs`. When a later read fails or the file is empty, the last valid content
 * stays in use: a token that was valid a minute ago most likely still is.
 */
export class ReloadingFile implements TextSource {
  readonly path: string
  readonly #options: ReloadingFileOptions
  #content: string | undefined
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<string> | undefined

  constructor(path: string, options: ReloadingFileOptions) {
    this.path = path
    this.#options = options
  }

  /** The content, trimmed. Rejects only when the file has never been readable. */
  async read(): Promise<string> {
    const { clock, maxAgeMs } = this.#options
    if (this.#content !== undefined && clock.now() - this.#readAt < maxAgeMs) return this.#content
    return this.reread()
  }

  /** The current content on disk. */
  async reread(): Promise<string> {
    this.#reading ??= this.#load().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #load(): Promise<string> {
    this.#readAt = this.#options.clock.now()
    try {
      const text = (await readFile(this.path, 'utf8')).trim()
      if (text === '') throw new CredentialsError(`${this.path}: the ${this.#options.what} file is empty`)
      this.#content = text
      return text
    } catch (error) {
      const problem = this.#asProblem(error)
      if (this.#content === undefined) throw problem
      this.#options.onProblem?.(problem)
      return this.#content
    }
  }

  #asProblem(error: unknown): CredentialsError {
    if (error instanceof CredentialsError) return error
    const code = codeOf(error) ?? 'unknown error'
    return new CredentialsError(`${this.path}: cannot read the ${this.#options.what} (${code})`, { cause: error })
  }
}
