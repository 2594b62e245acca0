/** Writes the entries of an untrusted archive to a new folder. */
import { chmod, type FileHandle, link, mkdir, open, symlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { ArchiveTooLargeError, ArchiveUnsafeError, shownName } from './archive-error.ts'
import { batches } from './batches.ts'
import { entryPath } from './entry-path.ts'
import { staysInside } from './link-target.ts'
import { releaseMemory } from './release-memory.ts'
import { DEFAULT_UNPACK_LIMITS, RATIO_FREE_BYTES, type UnpackOptions } from './unpack-options.ts'

/** Read, write and execute; no set-user-id and the like. */
const PERMISSION_BITS = 0o777
/** While a folder is filled its owner must be able to write into it, whatever mode the archive has. */
const OWNER_ACCESS = 0o700
const DEFAULT_DIRECTORY_MODE = 0o755
const DEFAULT_FILE_MODE = 0o644

/** What a {@link FolderWriter} knows about the archive. */
export interface PackedSource {
  /** Bytes of the archive that were read so far. */
  readonly packedBytes: () => number
  /** Whether the chunks of files are not used elsewhere, so that their memory can be freed immediately. @default false */
  readonly ownsChunks?: boolean
}

/**
 * Writes entries below a folder.
 *
 * *Guarantees*
 * - Limits are checked before every write: no more reaches the disk than they allow.
 * - Nothing is written outside: names are checked, and links are made last of all, so nothing is written through one.
 * - A name is written once; a second entry of the same name is refused, folders excepted.
 * - Links that would lead outside are left out and reported.
 *
 * *Assumption*: the folder is new, and nothing else writes into it.
 */
export class FolderWriter {
  readonly #root: string
  readonly #options: UnpackOptions
  readonly #source: PackedSource
  readonly #files = new Set<string>()
  readonly #directories = new Map<string, number>()
  readonly #symbolicLinks = new Map<string, string>()
  readonly #hardLinks = new Map<string, string>()
  #entries = 0
  #bytes = 0

  constructor(root: string, options: UnpackOptions, source: PackedSource) {
    this.#root = root
    this.#options = options
    this.#source = source
  }

  /** Creates a folder. The root of the archive exists already. */
  async directory(name: string, mode: number): Promise<void> {
    const path = this.#next(name)
    if (path === '') return
    this.#refuseTaken(path, name)
    await this.#makeDirectories(path)
    this.#directories.set(path, mode & PERMISSION_BITS)
  }

  /** Writes a file. */
  async file(name: string, mode: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.#next(name)
    this.#claim(path, name)
    this.#files.add(path)
    await this.#makeDirectories(posix.dirname(path))
    const handle = await open(join(this.#root, path), 'wx', OWNER_ACCESS & DEFAULT_FILE_MODE)
    try {
      await this.#fill(handle, content)
      const wanted = mode & PERMISSION_BITS || DEFAULT_FILE_MODE
      await handle.chmod((this.#options.fileMode?.(path, wanted) ?? wanted) & PERMISSION_BITS)
    } finally {
      await handle.close()
    }
    this.#report()
  }

  /** Records a symbolic link. */
  symbolicLink(name: string, target: string): void {
    const path = this.#next(name)
    this.#claim(path, name)
    this.#symbolicLinks.set(path, target)
  }

  /** Records a hard link to another file of the archive. */
  hardLink(name: string, target: string): void {
    const path = this.#next(name)
    this.#claim(path, name)
    this.#hardLinks.set(path, entryPath(target))
  }

  /** Counts an entry that is left out because it is a device, a pipe or the like. */
  specialFile(name: string): void {
    this.#next(name)
    this.#options.onSkip?.({ name, reason: 'special-file' })
  }

  /** Makes the links and gives folders their permissions. */
  async finish(): Promise<void> {
    for (const [path, target] of this.#hardLinks) {
      if (!this.#files.has(target)) {
        throw new ArchiveUnsafeError(
          `the entry ${shownName(path)} links to ${shownName(target)}, which is not a file of the archive`,
        )
      }
      await this.#makeDirectories(posix.dirname(path))
      await link(join(this.#root, target), join(this.#root, path))
    }
    for (const [path, target] of this.#symbolicLinks) {
      if (!staysInside(path, this.#symbolicLinks)) {
        this.#options.onSkip?.({ name: path, reason: 'unsafe-link' })
        continue
      }
      await this.#makeDirectories(posix.dirname(path))
      await symlink(target, join(this.#root, path))
    }
    // Deepest first, because a folder may forbid to be entered.
    const directories = [...this.#directories].toSorted(([a], [b]) => b.length - a.length)
    for (const [path, mode] of directories) {
      await chmod(join(this.#root, path), (mode || DEFAULT_DIRECTORY_MODE) | OWNER_ACCESS)
    }
    this.#report()
  }

  async #fill(handle: FileHandle, content: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const { chunks, bytes } of batches(content)) {
      this.#options.signal?.throwIfAborted()
      this.#bytes += bytes
      this.#checkSize()
      const { bytesWritten } = await handle.writev(chunks)
      if (bytesWritten !== bytes) throw new Error(`the disk took ${bytesWritten} of ${bytes} bytes; is it full?`)
      if (this.#source.ownsChunks) releaseMemory(chunks)
      this.#report()
    }
  }

  /** Fails when the content is too large, in total or compared with the archive, as in a decompression bomb. */
  #checkSize(): void {
    const { maxTotalBytes, maxRatio } = this.#options.limits ?? DEFAULT_UNPACK_LIMITS
    if (this.#bytes > maxTotalBytes) {
      throw new ArchiveTooLargeError(`the archive contains more than ${maxTotalBytes} bytes`)
    }
    if (this.#bytes <= RATIO_FREE_BYTES || this.#bytes <= this.#source.packedBytes() * maxRatio) return
    throw new ArchiveTooLargeError(
      `the archive grows to more than ${maxRatio} times its size; it may be a decompression bomb`,
    )
  }

  /** The path of the next entry, counted. */
  #next(name: string): string {
    this.#options.signal?.throwIfAborted()
    const { maxEntries } = this.#options.limits ?? DEFAULT_UNPACK_LIMITS
    if (++this.#entries > maxEntries) {
      throw new ArchiveTooLargeError(`the archive has more than ${maxEntries} entries`)
    }
    return entryPath(name)
  }

  #claim(path: string, name: string): void {
    if (path === '' || this.#directories.has(path)) throw taken(name)
    this.#refuseTaken(path, name)
  }

  #refuseTaken(path: string, name: string): void {
    if (this.#files.has(path) || this.#symbolicLinks.has(path) || this.#hardLinks.has(path)) throw taken(name)
  }

  async #makeDirectories(path: string): Promise<void> {
    if (path === '.' || path === '' || this.#directories.has(path)) return
    const segments = path.split('/')
    for (let depth = 1; depth <= segments.length; depth++) {
      const ancestor = segments.slice(0, depth).join('/')
      if (this.#directories.has(ancestor)) continue
      this.#refuseTaken(ancestor, path)
      await mkdir(join(this.#root, ancestor), { mode: DEFAULT_DIRECTORY_MODE })
      this.#directories.set(ancestor, DEFAULT_DIRECTORY_MODE)
    }
  }

  #report(): void {
    this.#options.onProgress?.({ entries: this.#entries, bytes: this.#bytes })
  }
}

function taken(name: string): ArchiveUnsafeError {
  return new ArchiveUnsafeError(`the entry ${shownName(name)} overwrites another one`)
}
