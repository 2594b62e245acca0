/**
 * Persists a store: every write is appended as one line before it is acknowledged, and periodically all live objects
 * are written to a snapshot that replaces earlier lines.
 *
 * *Guarantees.* An acknowledged write survives a crash of the process, because the operating system has it. A line
 * truncated by a crash is ignored. A crash of the machine may lose the last writes: they are not flushed to the disk
 * individually.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../json.ts'
import type { CommitRecord } from './store.ts'

/** One line of a file. */
interface Line {
  readonly revision: number
  readonly collection: string
  readonly key: string
  readonly object?: JsonObject
}

/** The data directory is in use by a running cluster. */
export class DataDirectoryInUse extends Error {
  readonly code = 'DATA_DIRECTORY_IN_USE'

  constructor(directory: string, pid: number) {
    super(`the data directory ${directory} is used by process ${pid}; stop that cluster or choose another directory`)
    this.name = 'DataDirectoryInUse'
  }
}

/** A line before the last one cannot be parsed: the file was modified by another program. */
export class DamagedJournal extends Error {
  readonly code = 'DAMAGED_JOURNAL'

  constructor(file: string, line: number, options: ErrorOptions) {
    super(`${file} cannot be parsed at line ${line}; restore it from a backup or remove the data directory`, options)
    this.name = 'DamagedJournal'
  }
}

const MIN_SNAPSHOT_BYTES = 16 * 1024 * 1024

/** The files of one cluster. */
export class Journal {
  readonly #directory: string
  #file: number | undefined
  #bytes = 0
  #snapshotBytes = 0

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Opens a directory, creating it if necessary. Throws {@link DataDirectoryInUse}. */
  static open(directory: string): Journal {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const journal = new Journal(directory)
    journal.#lock()
    return journal
  }

  /** All stored records, oldest first. Throws {@link DamagedJournal}. */
  *read(): Generator<CommitRecord> {
    for (const name of [snapshotName, journalName]) {
      const file = this.#path(name)
      if (!existsSync(file)) continue
      const lines = readFileSync(file, 'utf8').split('\n')
      const last = lines.findLastIndex((line) => line !== '')
      for (const [index, text] of lines.entries()) {
        if (text === '') continue
        const line = parse(text, () =>
          index === last && name === journalName ? undefined : new DamagedJournal(file, index + 1, {}),
        )
        if (line !== undefined) yield { ...line, object: line.object }
      }
    }
  }

  /** Replaces the history by the live objects, and starts a new journal. */
  compact(revision: number, live: Iterable<CommitRecord>): void {
    const target = this.#path(snapshotName)
    const partial = `${target}.new`
    const file = openSync(partial, 'w', 0o600)
    let bytes = 0
    try {
      // An empty first line contains the revision, which may be higher than that of every live object because of
      // deletions.
      bytes += writeSync(file, `${JSON.stringify({ revision, collection: '', key: '' })}\n`)
      for (const record of live) bytes += writeSync(file, `${JSON.stringify(record)}\n`)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(partial, target)
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = openSync(this.#path(journalName), 'w', 0o600)
    this.#bytes = 0
    this.#snapshotBytes = bytes
  }

  /** Whether the journal has grown enough to {@link compact} it. */
  get isDue(): boolean {
    return this.#bytes > Math.max(MIN_SNAPSHOT_BYTES, 2 * this.#snapshotBytes)
  }

  /** Appends one write. Throws when writing to disk fails; the write must then not be acknowledged. */
  append(record: CommitRecord): void {
    if (this.#file === undefined) throw new Error('the journal is not open for writing: compact it first')
    const line = Buffer.from(`${JSON.stringify(record)}\n`)
    try {
      for (let written = 0; written < line.length; ) written += writeSync(this.#file, line, written)
      this.#bytes += line.length
    } catch (error) {
      // An incomplete line would make the next one unreadable.
      ftruncateSync(this.#file, this.#bytes)
      throw error
    }
  }

  /** A small file next to the journal, such as a key; `undefined` when it does not exist. */
  readFile(name: string): string | undefined {
    const path = this.#path(name)
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined
  }

  /** Writes such a file atomically; only its owner can read it. */
  writeFile(name: string, content: string): void {
    const path = this.#path(name)
    const partial = `${path}.new`
    const file = openSync(partial, 'w', 0o600)
    try {
      writeSync(file, content)
    } finally {
      closeSync(file)
    }
    renameSync(partial, path)
  }

  /** Closes the files and unlocks the directory. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
    rmSync(this.#path(lockName), { force: true })
  }

  #lock(): void {
    const path = this.#path(lockName)
    if (existsSync(path)) {
      const pid = Number(readFileSync(path, 'utf8'))
      if (pid !== process.pid && isAlive(pid)) throw new DataDirectoryInUse(this.#directory, pid)
      rmSync(path, { force: true })
    }
    const file = openSync(path, 'wx', 0o600)
    writeSync(file, String(process.pid))
    closeSync(file)
  }

  #path(name: string): string {
    return join(this.#directory, name)
  }
}

const snapshotName = 'snapshot.jsonl'
const journalName = 'journal.jsonl'
const lockName = 'lock'

function parse(text: string, damaged: () => DamagedJournal | undefined): Line | undefined {
  try {
    const line: Line = JSON.parse(text)
    return line
  } catch {
    const error = damaged()
    if (error !== undefined) throw error
    return undefined
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
