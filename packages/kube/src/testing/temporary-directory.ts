/** Directories for tests that need real files. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory that is removed at the end of the test. */
export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string
  /** Writes a file and returns its path. */
  write(name: string, content: string, options?: { readonly mode?: number }): Promise<string>
}

/** Creates an empty directory. */
export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), 'reeve-kube-'))
  return {
    path,
    async write(name, content, options = {}) {
      const file = join(path, name)
      await writeFile(file, content, options)
      return file
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}
