/** Folders for the files of processes: removed when they are no longer needed, however this process ends. */
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Those that exist. */
const existing = new Set<string>()

function removeAll(): void {
  for (const path of existing) rmSync(path, { recursive: true, force: true })
}

/**
 * A folder of its own.
 *
 * @example
 * await using folder = await TemporaryFolder.create('reeve-process-')
 */
export class TemporaryFolder implements AsyncDisposable {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** @param prefix of its name */
  static async create(prefix: string): Promise<TemporaryFolder> {
    const path = await mkdtemp(join(tmpdir(), prefix))
    if (existing.size === 0) process.on('exit', removeAll)
    existing.add(path)
    return new TemporaryFolder(path)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true })
    existing.delete(this.path)
    if (existing.size === 0) process.off('exit', removeAll)
  }
}
