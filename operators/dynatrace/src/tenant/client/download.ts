/** Streams a large response into a file: bounded memory, resumed after a cut, hashed while streaming. */
import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { batches, releaseMemory } from '@reeve/archives'
import { HttpConnectionError, headerValue, type OutboundResponse } from '@reeve/http'
import type { Call, CallExecutor, CallOptions } from './call-executor.ts'
import { CLIENT_DEFAULTS } from './defaults.ts'

/** How far a download is. */
export interface DownloadProgress {
  readonly receivedBytes: number
  /** Absent when the server does not send it. */
  readonly totalBytes?: number
}

/** The outcome of a download. */
export type DownloadResult =
  | { readonly outcome: 'downloaded'; readonly sizeBytes: number; readonly sha256: string; readonly etag?: string }
  /** The copy with the given entity tag is still current; the file was not touched. */
  | { readonly outcome: 'unchanged' }

/** Options of {@link downloadToFile}. */
export interface DownloadOptions extends CallOptions {
  readonly etag?: string
  readonly onProgress?: (progress: DownloadProgress) => void
}

/**
 * Downloads into `file`.
 *
 * *Guarantees*
 * - Never more than about a megabyte in memory, however large the response.
 * - A connection that breaks is resumed where it broke when the server identified the content by a strong entity tag
 *   and it is still the same; otherwise the download starts over. Both count as attempts and share one deadline.
 * - Without `etag` the first request is an unconditional one.
 *
 * *Errors*: those of the call. The file is then incomplete; the caller removes it.
 */
export async function downloadToFile(
  executor: CallExecutor,
  call: Call,
  file: string,
  options: DownloadOptions = {},
): Promise<DownloadResult> {
  const handle = await open(file, 'w')
  try {
    const target = new DownloadTarget(handle, options.onProgress)
    return await executor.repeat(call, options, CLIENT_DEFAULTS.downloadTimeoutMs, async (signal, attempt) => {
      const headers = target.requestHeaders(options.etag)
      const success = headers.range === undefined ? [200] : [200, 206]
      if (options.etag !== undefined) success.push(304)
      const response = await executor.open({ ...call, headers, success }, signal, attempt)
      if (response.status === 304) return { outcome: 'unchanged' }
      await target.receive(response)
      return target.result()
    })
  } finally {
    await handle.close()
  }
}

/** The file being written, and what is known of its content across attempts. */
class DownloadTarget {
  readonly #handle: FileHandle
  readonly #onProgress: ((progress: DownloadProgress) => void) | undefined
  #hash: Hash = createHash('sha256')
  #receivedBytes = 0
  #totalBytes: number | undefined
  #etag: string | undefined

  constructor(handle: FileHandle, onProgress: ((progress: DownloadProgress) => void) | undefined) {
    this.#handle = handle
    this.#onProgress = onProgress
  }

  requestHeaders(knownEtag: string | undefined): Readonly<Record<string, string>> {
    // Archives are packed already, and parts of a packed stream could not be put together.
    const asIs = { 'accept-encoding': 'identity' }
    if (this.#receivedBytes > 0 && this.#etag !== undefined && !this.#etag.startsWith('W/')) {
      return { ...asIs, range: `bytes=${this.#receivedBytes}-`, 'if-range': this.#etag }
    }
    return knownEtag === undefined ? asIs : { ...asIs, 'if-none-match': knownEtag }
  }

  async receive(response: OutboundResponse): Promise<void> {
    const { headers, status } = response
    if (status === 206) this.#checkResumes(response)
    else await this.#startOver(headers)
    // What arrives before a disconnect is written as well: the next attempt continues from there.
    for await (const { chunks, bytes } of batches(response.body)) await this.#write(chunks, bytes)
    if (this.#totalBytes !== undefined && this.#receivedBytes !== this.#totalBytes) {
      const counts = `${this.#receivedBytes} of ${this.#totalBytes} bytes arrived`
      throw new HttpConnectionError(`${response.url.host}: ${counts}`, 'response')
    }
  }

  result(): DownloadResult {
    return {
      outcome: 'downloaded',
      sizeBytes: this.#receivedBytes,
      sha256: this.#hash.copy().digest('hex'),
      ...(this.#etag !== undefined && { etag: this.#etag }),
    }
  }

  async #startOver(headers: OutboundResponse['headers']): Promise<void> {
    await this.#handle.truncate(0)
    this.#hash = createHash('sha256')
    this.#receivedBytes = 0
    const length = headerValue(headers, 'content-length')
    this.#totalBytes = length === undefined ? undefined : Number(length)
    this.#etag = headerValue(headers, 'etag')
  }

  #checkResumes({ headers, url }: OutboundResponse): void {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headerValue(headers, 'content-range') ?? '')
    if (range?.[1] === String(this.#receivedBytes)) return
    const at = this.#receivedBytes
    this.#etag = undefined // the next try starts over
    throw new HttpConnectionError(`${url.host}: requested bytes from ${at}, got another range`, 'response')
  }

  async #write(chunks: readonly Uint8Array[], bytes: number): Promise<void> {
    for (const chunk of chunks) this.#hash.update(chunk)
    const { bytesWritten } = await this.#handle.writev(chunks, this.#receivedBytes)
    if (bytesWritten !== bytes) throw new Error(`the disk took ${bytesWritten} of ${bytes} bytes; is it full?`)
    // The chunks are not used elsewhere.
    releaseMemory(chunks)
    this.#receivedBytes += bytes
    this.#onProgress?.({
      receivedBytes: this.#receivedBytes,
      ...(this.#totalBytes !== undefined && { totalBytes: this.#totalBytes }),
    })
  }
}
