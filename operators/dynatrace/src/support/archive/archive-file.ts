/** The file of an archive: it appears when it is complete. */
import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'

/** By the code of the operating system. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'Free some space, or write it to another disk',
  EDQUOT: 'Free some space, or write it to another disk',
  EFBIG: 'Raise the limit on the size of files (ulimit -f), or write it to another disk',
  ENOENT: 'Create the folder first',
  EACCES: 'Choose a folder that you may write to',
  EROFS: 'Choose a folder that you may write to',
}

/** The file cannot be written. */
class ArchiveFileError extends Error {
  override readonly name = 'ArchiveFileError'
  readonly code = 'SUPPORT_ARCHIVE_FILE'

  constructor(file: string, cause: NodeJS.ErrnoException) {
    const remedy = REMEDIES[cause.code ?? '']
    super(`cannot write the archive ${file}: ${cause.message}${remedy === undefined ? '' : `. ${remedy}`}`, { cause })
  }
}

/**
 * Writes a file, readable by its owner only.
 *
 * *Guarantees*: nothing is left under this or another name if it fails, and an existing file stays as it is.
 *
 * *Errors*: {@link ArchiveFileError}, and those of `write`.
 *
 * @param write gets the reason of a failed output by its signal, so that it does not go on in vain
 */
export async function writeArchiveFile(
  file: string,
  signal: AbortSignal,
  write: (output: Writable, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const partial = `${file}.partial`
  const failed = new AbortController()
  const output = createWriteStream(partial, { mode: 0o600 })
  output.on('error', (error) => failed.abort(new ArchiveFileError(file, error)))
  try {
    await once(output, 'open')
    await write(output, AbortSignal.any([signal, failed.signal]))
    output.end()
    await finished(output)
    await rename(partial, file)
  } catch (error) {
    await closed(output)
    await rm(partial, { force: true })
    throw failed.signal.aborted ? failed.signal.reason : error
  }
}

/** A stream that is still opening its file would create it after it was deleted. */
async function closed(output: WriteStream): Promise<void> {
  output.destroy()
  if (!output.closed) await once(output, 'close')
}
