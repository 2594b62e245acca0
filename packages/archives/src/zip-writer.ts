/** Writes a ZIP archive as a stream: entries one after the other, nothing kept but their names. */
import { once } from 'node:events'
import { Readable, type Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ZipFile } from 'yazl'

/**
 * An archive that is written while its content is produced.
 *
 * *Guarantees*: memory does not grow with the content; an entry whose content fails ends with what was produced, and the
 * archive stays valid.
 *
 * @example
 * const zip = new ZipWriter(process.stdout)
 * await zip.add('hello.txt', ['hello\n'])
 * await zip.close()
 */
export class ZipWriter {
  readonly #zip = new ZipFile()
  readonly #written: Promise<unknown>

  /** @param output is not ended by {@link close}: it may be the standard output */
  constructor(output: Writable) {
    this.#zip.outputStream.pipe(output, { end: false })
    const lost = once(output, 'close').then(() => {
      throw new Error('the output was closed before the archive was complete')
    })
    lost.catch(() => undefined)
    const failed = once(output, 'error').then(([error]) => Promise.reject(error))
    failed.catch(() => undefined)
    this.#written = Promise.race([finished(this.#zip.outputStream as Readable, { writable: false }), lost, failed])
    this.#written.catch(() => undefined)
  }

  /** Adds an entry and resolves when its content was read. Rejects with the error of the content, after the entry. */
  async add(
    path: string,
    content: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
    options: { readonly modified?: Date } = {},
  ): Promise<void> {
    let failure: { readonly reason: unknown } | undefined
    async function* guarded() {
      try {
        for await (const chunk of content) yield Buffer.from(chunk)
      } catch (reason) {
        failure = { reason }
      }
    }
    const stream = Readable.from(guarded(), { objectMode: false })
    this.#zip.addReadStream(stream, path, { mtime: options.modified ?? new Date(), mode: 0o100644, compress: true })
    await Promise.race([finished(stream), this.#written])
    if (failure !== undefined) throw failure.reason
  }

  /** Writes the directory of the archive; resolves when the output has taken everything. */
  async close(): Promise<void> {
    this.#zip.end()
    await this.#written
  }
}
